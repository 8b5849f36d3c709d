#ifndef STEWARD_FRAME_H
#define STEWARD_FRAME_H

typedef struct {
	char key[128];
	int bounds[4], work[4]; /* x, y, width, height */
	int primary;
} steward_screen;

enum { STEWARD_ORB, STEWARD_MENU, STEWARD_PANEL };

/* On the main thread, before the library's window. */
void steward_watch(void);
void steward_catch(int x, int y, int w, int h);
int steward_screens(steward_screen *out, int max);

/* From any thread; done in the order of the calls. */
void steward_place(int shape, int x, int y, int w, int h, int min_w, int min_h);
void steward_focus(void);
void steward_give_back(void);
void steward_raise(void);

#endif
