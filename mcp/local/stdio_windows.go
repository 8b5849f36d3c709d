package local

// pollable returns the stream as it is: a process on Windows is started with
// pipes that cannot be waited for in any other way.
func pollable[T any](stream T) (T, func()) { return stream, func() {} }
