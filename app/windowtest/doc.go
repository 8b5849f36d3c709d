// Package windowtest drives the real window in tests and benchmarks: on an X
// server of its own with a window manager and a compositor, by what a mouse and
// a keyboard send, and looks at its pixels. What the page thinks is asked
// through the web view's inspector, which is open only in a build with the tag
// inspect. It works on Linux alone.
package windowtest
