//go:build desktop && !bindings

/* The window as GTK knows it. Everything here runs on GTK's thread. */

#include <gdk/gdkx.h>
#include <gtk/gtk.h>
#include <stdio.h>
#include <string.h>
#include <webkit2/webkit2.h>

#include "_cgo_export.h"
#include "frame_linux.h"

#define PAGE "wails://wails/"

static GtkWindow *window;
static WebKitWebView *view;
static GdkRectangle start;    /* where the window first appears */
static int shape = STEWARD_ORB;
static GdkRectangle wanted; /* where it was sent last */
static int again;           /* how often that is still insisted on */
static gint64 until;        /* and until when, in µs */
static GdkGeometry limits;  /* of its size, once it is there */
static GdkWindowHints bounded;
static gboolean loose; /* they are not set yet */
static gboolean covered; /* the page has not painted yet */
static gboolean clicked; /* the person has, meanwhile */
static Window before; /* whom the keyboard was taken from; 0: nobody */

int steward_start(void) { return gtk_init_check(NULL, NULL); }

/* Displays */

static void copy(int out[4], GdkRectangle *r) {
	out[0] = r->x;
	out[1] = r->y;
	out[2] = r->width;
	out[3] = r->height;
}

int steward_screens(steward_screen *out, int max) {
	GdkDisplay *display = gdk_display_get_default();
	int n = display ? MIN(gdk_display_get_n_monitors(display), max) : 0;
	for (int i = 0; i < n; i++) {
		GdkMonitor *m = gdk_display_get_monitor(display, i);
		const char *maker = gdk_monitor_get_manufacturer(m), *model = gdk_monitor_get_model(m);
		GdkRectangle bounds, work;
		gdk_monitor_get_geometry(m, &bounds);
		gdk_monitor_get_workarea(m, &work);
		snprintf(out[i].key, sizeof out[i].key, "%s %s", maker ? maker : "", model ? model : "display");
		copy(out[i].bounds, &bounds);
		copy(out[i].work, &work);
		out[i].primary = gdk_monitor_is_primary(m);
	}
	return n;
}

int steward_composited(void) {
	GdkScreen *screen = gdk_screen_get_default();
	return screen && gdk_screen_is_composited(screen) && gdk_screen_get_rgba_visual(screen);
}

/* The shape of the window */

/* rounded is a rectangle with round corners, as rows of pixels. */
static cairo_region_t *rounded(int w, int h, int radius) {
	cairo_region_t *region = cairo_region_create();
	for (int y = 0; y < h; y++) {
		int from_edge = MIN(y, h - 1 - y), cut = 0;
		if (from_edge < radius) {
			double dy = radius - from_edge - 0.5;
			while (cut < radius && (radius - cut - 0.5) * (radius - cut - 0.5) + dy * dy > (double)radius * radius)
				cut++;
		}
		cairo_rectangle_int_t row = {cut, y, w - 2 * cut, 1};
		cairo_region_union_rectangle(region, &row);
	}
	return region;
}

/* cut_out lets clicks through the orb's corners. Without a compositor it takes
 * the corners away, which would be black. */
static void cut_out(int w, int h) {
	GtkWidget *widget = GTK_WIDGET(window);
	cairo_region_t *region = rounded(w, h, shape == STEWARD_ORB ? MIN(w, h) / 2 : 16);
	gtk_widget_shape_combine_region(widget, steward_composited() ? NULL : region);
	gtk_widget_input_shape_combine_region(widget, shape == STEWARD_ORB ? region : NULL);
	cairo_region_destroy(region);
}

/* How much larger the person wants the panel's text. */
static double zoom = 1.0;

static void limit(void) {
	gtk_window_set_geometry_hints(window, NULL, &limits, bounded);
	loose = FALSE;
}

/* steward_place moves and resizes in one step. GTK itself would move the window
 * at once and resize it later; and a window manager that hears of new limits
 * before it hears of the new size brings the window within them first. */
void steward_place(int to, int x, int y, int w, int h, int min_w, int min_h) {
	if (!window)
		return;
	shape = to;
	wanted = (GdkRectangle){x, y, w, h};
	again = 16;
	until = g_get_monotonic_time() + 500000;
	limits = (GdkGeometry){.min_width = min_w, .min_height = min_h, .max_width = w, .max_height = h};
	bounded = to == STEWARD_PANEL ? GDK_HINT_MIN_SIZE : GDK_HINT_MIN_SIZE | GDK_HINT_MAX_SIZE;
	gtk_window_set_accept_focus(window, to != STEWARD_ORB);
	GdkWindow *real = gtk_widget_get_window(GTK_WIDGET(window));
	if (real) {
		GdkGeometry any = {.min_width = 1, .min_height = 1};
		gtk_window_set_geometry_hints(window, NULL, &any, GDK_HINT_MIN_SIZE);
		gdk_window_set_geometry_hints(real, &any, GDK_HINT_MIN_SIZE);
		loose = TRUE;
		gdk_window_move_resize(real, x, y, w, h);
	} else {
		limit();
		gtk_window_move(window, x, y);
	}
	gtk_window_resize(window, w, h);
	cut_out(w, h);
	webkit_web_view_set_zoom_level(view, to == STEWARD_PANEL ? zoom : 1.0);
}

/* The keyboard */

static Window active(void) {
	GdkWindow *w = gdk_screen_get_active_window(gtk_window_get_screen(window));
	if (!w)
		return 0;
	Window id = gdk_x11_window_get_xid(w);
	g_object_unref(w);
	return id;
}

static int on_x11(void) {
	return window && gtk_widget_get_window(GTK_WIDGET(window)) && GDK_IS_X11_WINDOW(gtk_widget_get_window(GTK_WIDGET(window)));
}

/* steward_focus takes the keyboard: a person has clicked, just now, or started
 * the program again. */
void steward_focus(const char *startup) {
	if (!window)
		return;
	if (startup && *startup)
		gtk_window_set_startup_id(window, startup);
	if (!on_x11()) {
		gtk_window_present(window);
		return;
	}
	GdkWindow *mine = gtk_widget_get_window(GTK_WIDGET(window));
	Window now = active();
	if (now != gdk_x11_window_get_xid(mine))
		before = now;
	gtk_window_present_with_time(window, gdk_x11_get_server_time(mine));
	gtk_widget_grab_focus(GTK_WIDGET(view));
}

/* steward_give_back returns the keyboard to whom it was taken from, unless it
 * has gone elsewhere by itself. */
void steward_give_back(void) {
	if (!on_x11() || !before)
		return;
	GdkWindow *mine = gtk_widget_get_window(GTK_WIDGET(window));
	if (active() == gdk_x11_window_get_xid(mine)) {
		GdkWindow *w = gdk_x11_window_foreign_new_for_display(gdk_window_get_display(mine), before);
		if (w) {
			gdk_window_focus(w, gdk_x11_get_server_time(mine));
			g_object_unref(w);
		}
	}
	before = 0;
}

void steward_raise(void) {
	if (window && gtk_widget_get_window(GTK_WIDGET(window)))
		gdk_window_raise(gtk_widget_get_window(GTK_WIDGET(window)));
}

/* What happens to the window */

static gboolean configured(GtkWidget *w, GdkEventConfigure *e, gpointer data) {
	static int width, height;
	/* News of an earlier size may come after the window was sent elsewhere, and
	 * GTK would take it for what the window manager wants. */
	if (e->width == wanted.width && e->height == wanted.height) {
		again = 0; /* from now on, other sizes are the person's */
		if (loose)
			limit();
	} else if (again > 0 && g_get_monotonic_time() < until) {
		again--;
		gtk_window_resize(window, wanted.width, wanted.height);
	}
	if (e->width != width || e->height != height) {
		width = e->width;
		height = e->height;
		cut_out(width, height);
	}
	stewardMoved(e->x, e->y, e->width, e->height);
	return FALSE;
}

static gboolean unfocused(GtkWidget *w, GdkEvent *e, gpointer data) {
	stewardBlurred();
	return FALSE;
}

/* Ctrl with plus, minus and nought do in the panel what they do in a browser. */
static gboolean keyed(GtkWidget *w, GdkEventKey *e, gpointer data) {
	if (shape != STEWARD_PANEL || (e->state & gtk_accelerator_get_default_mod_mask() & ~GDK_SHIFT_MASK) != GDK_CONTROL_MASK)
		return FALSE;
	switch (e->keyval) {
	case GDK_KEY_plus:
	case GDK_KEY_equal:
	case GDK_KEY_KP_Add:
		zoom = MIN(zoom + 0.1, 2.0);
		break;
	case GDK_KEY_minus:
	case GDK_KEY_KP_Subtract:
		zoom = MAX(zoom - 0.1, 0.8);
		break;
	case GDK_KEY_0:
	case GDK_KEY_KP_0:
		zoom = 1.0;
		break;
	default:
		return FALSE;
	}
	webkit_web_view_set_zoom_level(view, zoom);
	return TRUE;
}

static void recomposed(GdkScreen *screen, gpointer data) {
	int w, h;
	gtk_window_get_size(window, &w, &h);
	cut_out(w, h);
	stewardRecomposed();
}

static void rearranged(GdkScreen *screen, gpointer data) { stewardRearranged(); }

/* The window manager keeps the release of a button that moved or resized the
 * window to itself. Without it the page would take the next press for one more
 * of the same, and that click would be lost. It comes from nowhere, so that it
 * ends no click. */
static gboolean pressed;

static void release(GtkWidget *w, GdkEvent *because) {
	GdkEvent *e = gdk_event_new(GDK_BUTTON_RELEASE);
	e->button.window = g_object_ref(gtk_widget_get_window(w));
	e->button.time = gdk_event_get_time(because);
	e->button.x = e->button.y = e->button.x_root = e->button.y_root = -1;
	e->button.state = GDK_BUTTON1_MASK;
	e->button.button = 1;
	gdk_event_set_device(e, gdk_event_get_device(because));
	gtk_widget_event(w, e);
	gdk_event_free(e);
}

static gboolean pointed(GtkWidget *w, GdkEvent *e, gpointer data) {
	GdkModifierType held = 0;
	switch (gdk_event_get_event_type(e)) {
	case GDK_BUTTON_PRESS:
		if (e->button.button != 1)
			break;
		clicked = covered;
		if (pressed)
			release(w, e);
		pressed = TRUE;
		break;
	case GDK_BUTTON_RELEASE:
		if (e->button.button == 1)
			pressed = FALSE;
		break;
	case GDK_MOTION_NOTIFY:
	case GDK_ENTER_NOTIFY:
		if (pressed && gdk_event_get_state(e, &held) && !(held & GDK_BUTTON1_MASK))
			release(w, e);
		break;
	default:
		break;
	}
	return FALSE;
}

/* Before the page */

/* WebKit's processes take longer to start than a person should wait for a sign
 * of life, and what they show first can be a white square. Until the page has
 * painted, nothing of it is shown, and the orb is drawn here. It looks as the
 * page's does that knows nothing yet (orb/OrbShape.svelte). */
static gboolean draw_orb(GtkWidget *w, cairo_t *c, gpointer data) {
	if (shape != STEWARD_ORB)
		return FALSE;
	if (!steward_composited()) {
		cairo_set_source_rgb(c, 0x14 / 255.0, 0x16 / 255.0, 0x1a / 255.0);
		cairo_paint(c);
	}
	cairo_arc(c, 40, 41, 32.4, 0, 2 * G_PI);
	cairo_set_source_rgba(c, 0, 0, 0, 0.28);
	cairo_fill(c);
	cairo_pattern_t *ink = cairo_pattern_create_radial(30.4, 24, 0, 30.4, 24, 54.4);
	cairo_pattern_add_color_stop_rgb(ink, 0, 0x3a / 255.0, 0x3f / 255.0, 0x4a / 255.0);
	cairo_pattern_add_color_stop_rgb(ink, 1, 0x14 / 255.0, 0x16 / 255.0, 0x1a / 255.0);
	cairo_arc(c, 40, 40, 32, 0, 2 * G_PI);
	cairo_set_source(c, ink);
	cairo_fill(c);
	cairo_pattern_destroy(ink);
	cairo_arc(c, 40, 40, 31.5, 0, 2 * G_PI);
	cairo_set_source_rgb(c, 0x59 / 255.0, 0x60 / 255.0, 0x70 / 255.0);
	cairo_set_line_width(c, 1);
	cairo_stroke(c);
	return FALSE;
}

/* has_painted tells whether the page has painted, by a point that every face of
 * the orb covers, above its sign. Before, it is clear or white. A panel can be
 * white: of that, it is enough that it is loaded. */
static gboolean has_painted(GtkWidget *w) {
	if (shape != STEWARD_ORB)
		return !webkit_web_view_is_loading(view);
	cairo_surface_t *all = cairo_image_surface_create(CAIRO_FORMAT_ARGB32, 80, 80); /* WebKit draws nothing into a point */
	cairo_t *c = cairo_create(all);
	GTK_WIDGET_GET_CLASS(w)->draw(w, c);
	cairo_destroy(c);
	cairo_surface_flush(all);
	guint32 argb = ((guint32 *)(cairo_image_surface_get_data(all) + 14 * cairo_image_surface_get_stride(all)))[40];
	cairo_surface_destroy(all);
	return argb >> 24 != 0 && argb != 0xffffffff;
}

static gboolean draw_page(GtkWidget *w, cairo_t *c, gpointer data) {
	if (!has_painted(w))
		return FALSE;
	g_signal_handlers_disconnect_by_func(window, draw_orb, NULL);
	g_signal_handlers_disconnect_by_func(view, draw_page, NULL);
	covered = FALSE;
	gtk_widget_set_opacity(w, 1);
	gtk_widget_queue_draw(GTK_WIDGET(window));
	if (clicked && shape == STEWARD_ORB)
		stewardClicked(); /* they did not wait for the page */
	clicked = FALSE;
	return FALSE;
}

static void cover(void) {
	if (covered)
		return;
	covered = TRUE;
	gtk_widget_set_opacity(GTK_WIDGET(view), 0); /* WebKit must be let draw */
	g_signal_connect(window, "draw", G_CALLBACK(draw_orb), NULL);
	g_signal_connect(view, "draw", G_CALLBACK(draw_page), NULL);
	gtk_widget_queue_draw(GTK_WIDGET(window));
}

/* What the page may do */

static gboolean decided(WebKitWebView *v, WebKitPolicyDecision *d, WebKitPolicyDecisionType type, gpointer data) {
	if (type == WEBKIT_POLICY_DECISION_TYPE_RESPONSE)
		return FALSE;
	WebKitNavigationAction *action = webkit_navigation_policy_decision_get_navigation_action(WEBKIT_NAVIGATION_POLICY_DECISION(d));
	const char *uri = webkit_uri_request_get_uri(webkit_navigation_action_get_request(action));
	if (type == WEBKIT_POLICY_DECISION_TYPE_NAVIGATION_ACTION && g_str_has_prefix(uri, PAGE))
		return FALSE;
	webkit_policy_decision_ignore(d);
	return TRUE;
}

static GtkWidget *created(WebKitWebView *v, WebKitNavigationAction *a, gpointer data) { return NULL; }

static gboolean permitted(WebKitWebView *v, WebKitPermissionRequest *r, gpointer data) {
	webkit_permission_request_deny(r);
	return TRUE;
}

static gboolean refused(void) { return TRUE; }

static gboolean load(gpointer data) {
	webkit_web_view_load_uri(view, PAGE);
	return G_SOURCE_REMOVE;
}

/* A page whose process has ended comes up again, but never in a busy loop. */
static void crashed(WebKitWebView *v, WebKitWebProcessTerminationReason why, gpointer data) {
	stewardCrashed(why);
	cover();
	g_timeout_add(500, load, NULL);
}

/* The beginning */

static gboolean settle(gpointer data) {
	steward_place(shape, start.x, start.y, start.width, start.height, start.width, start.height);
	return G_SOURCE_REMOVE;
}

/* prepare is called when the window is about to be shown for the first time:
 * what is set now counts from its first moment on the screen. */
static void prepare(void) {
	GdkScreen *screen = gtk_window_get_screen(window);
	GdkVisual *visual = gdk_screen_get_rgba_visual(screen);
	if (visual) { /* also while there is no compositor: it may come later */
		gtk_widget_set_app_paintable(GTK_WIDGET(window), TRUE);
		gtk_widget_set_visual(GTK_WIDGET(window), visual);
	}
	gtk_window_set_type_hint(window, GDK_WINDOW_TYPE_HINT_UTILITY); /* floats with tiling window managers */
	gtk_window_set_skip_taskbar_hint(window, TRUE);
	gtk_window_set_skip_pager_hint(window, TRUE);
	gtk_window_set_focus_on_map(window, FALSE);
	gtk_window_set_keep_above(window, TRUE);
	gtk_window_stick(window);
	gtk_window_set_default_size(window, start.width, start.height);
	steward_place(STEWARD_ORB, start.x, start.y, start.width, start.height, start.width, start.height);

	g_signal_connect(window, "configure-event", G_CALLBACK(configured), NULL);
	g_signal_connect(window, "key-press-event", G_CALLBACK(keyed), NULL);
	g_signal_connect(window, "focus-out-event", G_CALLBACK(unfocused), NULL);
	g_signal_connect(screen, "composited-changed", G_CALLBACK(recomposed), NULL);
	g_signal_connect(screen, "monitors-changed", G_CALLBACK(rearranged), NULL);
	g_signal_connect(screen, "size-changed", G_CALLBACK(rearranged), NULL);

	for (const char *const *name = (const char *const[]){"button-press-event", "button-release-event", "motion-notify-event", "enter-notify-event", NULL}; *name; name++)
		g_signal_connect(view, *name, G_CALLBACK(pointed), NULL);
	cover();
	g_signal_connect(view, "decide-policy", G_CALLBACK(decided), NULL);
	g_signal_connect(view, "create", G_CALLBACK(created), NULL);
	g_signal_connect(view, "permission-request", G_CALLBACK(permitted), NULL);
	g_signal_connect(view, "print", G_CALLBACK(refused), NULL);
	g_signal_connect(view, "script-dialog", G_CALLBACK(refused), NULL);
	g_signal_connect(view, "web-process-terminated", G_CALLBACK(crashed), NULL);

	/* The library moves the window to the middle in an idle moment of its own,
	 * which comes before this one. */
	g_idle_add_full(G_PRIORITY_DEFAULT_IDLE + 10, settle, NULL, NULL);
}

static gboolean shown(GSignalInvocationHint *hint, guint n, const GValue *values, gpointer data) {
	GObject *object = g_value_get_object(&values[0]);
	if (!WEBKIT_IS_WEB_VIEW(object))
		return TRUE;
	GtkWidget *top = gtk_widget_get_toplevel(GTK_WIDGET(object));
	if (!GTK_IS_WINDOW(top))
		return TRUE;
	view = WEBKIT_WEB_VIEW(object);
	window = GTK_WINDOW(top);
	g_object_add_weak_pointer(G_OBJECT(window), (gpointer *)&window);
	g_object_add_weak_pointer(G_OBJECT(view), (gpointer *)&view);
	prepare();
	return FALSE; /* once */
}

/* steward_catch waits for the window, which the library makes and keeps to
 * itself: its web view is shown before the window is. */
void steward_catch(int x, int y, int w, int h) {
	start = (GdkRectangle){x, y, w, h};
	g_type_ensure(WEBKIT_TYPE_WEB_VIEW);
	g_signal_add_emission_hook(g_signal_lookup("show", GTK_TYPE_WIDGET), 0, shown, NULL, NULL);
}

/* The end */

void steward_end_loop(void) { gtk_main_quit(); }

/* steward_leave_screen lets the destroyed window disappear though no loop runs
 * any more. */
void steward_leave_screen(void) {
	for (int i = 0; i < 1000 && gtk_events_pending(); i++)
		gtk_main_iteration_do(FALSE);
	if (gdk_display_get_default())
		gdk_display_sync(gdk_display_get_default());
}

/* Go on GTK's thread */

static gboolean invoke(gpointer call) {
	stewardInvoke((uintptr_t)call);
	return G_SOURCE_REMOVE;
}

void steward_invoke(uintptr_t call) {
	g_idle_add_full(G_PRIORITY_DEFAULT, invoke, (gpointer)call, NULL); /* never on the calling thread */
}
