//go:build !unix

package ledger_test

func readOnlyCheck(string) {}
