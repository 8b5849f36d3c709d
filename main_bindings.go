//go:build bindings

// Steward's window is called by hand through one method, so the generator of
// bindings that the window's library runs has nothing to find.
package main

func main() {}
