//go:build desktop && !bindings

/* The window as AppKit knows it: no button in the Dock, above full-screen
 * programs on every space, and no keyboard while it is an orb. Everything here
 * runs on the main thread. */

#import <Cocoa/Cocoa.h>
#import <objc/runtime.h>

#include "_cgo_export.h"
#include "frame_darwin.h"

static NSWindow *window; /* the library's, once it is there */
static NSRect start;     /* where it first appears */
static int shape = STEWARD_ORB;
static NSRunningApplication *before; /* whom the keyboard was taken from */

/* Displays. AppKit counts y upwards from the lower edge of the first display;
 * Steward counts it downwards from its upper one. */

static CGFloat upper(void) { return NSMaxY(NSScreen.screens.firstObject.frame); }

static NSRect flipped(int x, int y, int w, int h) { return NSMakeRect(x, upper() - y - h, w, h); }

static void copy(int out[4], NSRect r) {
	out[0] = (int)lround(NSMinX(r));
	out[1] = (int)lround(upper() - NSMaxY(r));
	out[2] = (int)lround(NSWidth(r));
	out[3] = (int)lround(NSHeight(r));
}

int steward_screens(steward_screen *out, int max) {
	int n = 0;
	for (NSScreen *s in NSScreen.screens) {
		if (n == max)
			break;
		strlcpy(out[n].key, s.localizedName.UTF8String ?: "display", sizeof out[n].key);
		copy(out[n].bounds, s.frame);
		copy(out[n].work, s.visibleFrame);
		out[n].primary = n == 0;
		n++;
	}
	return n;
}

/* The library's window */

static BOOL may_have_keyboard(id self, SEL name) { return shape != STEWARD_ORB; }

/* A click on a window without the keyboard would only bring it to the front. */
static BOOL takes_first_click(id self, SEL name, NSEvent *event) { return YES; }

static void find_window(void) {
	Class kind = NSClassFromString(@"WailsWindow"), view = NSClassFromString(@"WailsWebView");
	for (NSWindow *w in NSApp.windows)
		if (kind && [w isKindOfClass:kind])
			window = w;
	if (!window)
		return;
	class_replaceMethod(kind, @selector(canBecomeKeyWindow), (IMP)may_have_keyboard,
			    method_getTypeEncoding(class_getInstanceMethod(NSWindow.class, @selector(canBecomeKeyWindow))));
	if (view)
		class_replaceMethod(view, @selector(acceptsFirstMouse:), (IMP)takes_first_click,
				    method_getTypeEncoding(class_getInstanceMethod(NSView.class, @selector(acceptsFirstMouse:))));
	window.opaque = NO;
	window.hasShadow = NO; /* of the disc it would be a square's */
	window.level = NSFloatingWindowLevel;
	window.collectionBehavior = NSWindowCollectionBehaviorCanJoinAllSpaces | NSWindowCollectionBehaviorFullScreenAuxiliary |
				    NSWindowCollectionBehaviorStationary | NSWindowCollectionBehaviorIgnoresCycle;
	[window setFrame:start display:NO];
}

static void give_back(void) {
	if (!NSApp.active || !before || before.terminated)
		return;
	if (@available(macOS 14.0, *))
		[NSApp yieldActivationToApplication:before];
	[before activateWithOptions:0];
}

static void told(NSNotificationName name, void (^what)(NSNotification *)) {
	[NSNotificationCenter.defaultCenter addObserverForName:name object:nil queue:nil usingBlock:what];
}

static void moved(NSNotification *n) {
	if (!window || n.object != window)
		return;
	int r[4];
	copy(r, window.frame);
	stewardMoved(r[0], r[1], r[2], r[3]);
}

static void remember(NSRunningApplication *app) {
	if (app && app.processIdentifier != NSProcessInfo.processInfo.processIdentifier)
		before = app;
}

void steward_watch(void) {
	(void)NSApplication.sharedApplication;
	remember(NSWorkspace.sharedWorkspace.frontmostApplication);
	[NSWorkspace.sharedWorkspace.notificationCenter
		addObserverForName:NSWorkspaceDidActivateApplicationNotification
			    object:nil
			     queue:nil
			usingBlock:^(NSNotification *n) { remember(n.userInfo[NSWorkspaceApplicationKey]); }];
	told(NSApplicationWillFinishLaunchingNotification, ^(NSNotification *n) { find_window(); });
	told(NSApplicationDidFinishLaunchingNotification, ^(NSNotification *n) {
		/* The library makes a program of the usual kind out of this and brings
		 * it to the front. This comes after. */
		dispatch_async(dispatch_get_main_queue(), ^{
			[NSApp setActivationPolicy:NSApplicationActivationPolicyAccessory];
			give_back();
		});
	});
	told(NSApplicationDidBecomeActiveNotification, ^(NSNotification *n) {
		if (shape == STEWARD_ORB) /* the orb was dragged */
			give_back();
	});
	told(NSApplicationDidChangeScreenParametersNotification, ^(NSNotification *n) { stewardRearranged(); });
	told(NSWindowDidMoveNotification, ^(NSNotification *n) { moved(n); });
	told(NSWindowDidResizeNotification, ^(NSNotification *n) { moved(n); });
	told(NSWindowDidResignKeyNotification, ^(NSNotification *n) {
		if (window && n.object == window)
			stewardBlurred();
	});
}

void steward_catch(int x, int y, int w, int h) { start = flipped(x, y, w, h); }

/* What the stage asks for */

void steward_place(int to, int x, int y, int w, int h, int min_w, int min_h) {
	dispatch_async(dispatch_get_main_queue(), ^{
		if (!window)
			return;
		shape = to;
		window.minSize = NSMakeSize(min_w, min_h);
		window.maxSize = to == STEWARD_PANEL ? NSMakeSize(FLT_MAX, FLT_MAX) : NSMakeSize(w, h);
		[window setFrame:flipped(x, y, w, h) display:YES];
	});
}

void steward_focus(void) {
	dispatch_async(dispatch_get_main_queue(), ^{
		[NSApp activateIgnoringOtherApps:YES];
		[window makeKeyAndOrderFront:nil];
	});
}

void steward_give_back(void) {
	dispatch_async(dispatch_get_main_queue(), ^{ give_back(); });
}

void steward_raise(void) {
	dispatch_async(dispatch_get_main_queue(), ^{ [window orderFrontRegardless]; });
}
