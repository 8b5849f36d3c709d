#ifndef STEWARD_FRAME_H
#define STEWARD_FRAME_H

#include <stdint.h>

typedef struct {
	char key[128];
	int bounds[4], work[4]; /* x, y, width, height */
	int primary;
} steward_screen;

enum { STEWARD_ORB, STEWARD_MENU, STEWARD_PANEL };

int steward_start(void);
void steward_catch(int x, int y, int w, int h);
int steward_screens(steward_screen *out, int max);
int steward_composited(void);
void steward_place(int shape, int x, int y, int w, int h, int min_w, int min_h);
void steward_focus(const char *startup);
void steward_give_back(void);
void steward_raise(void);
void steward_end_loop(void);
void steward_leave_screen(void);
void steward_invoke(uintptr_t call);

#endif
