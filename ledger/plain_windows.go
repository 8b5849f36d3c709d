package ledger

import (
	"io/fs"
	"os"
)

// openNow opens a file: what is no file there has its own kind of name, and none
// keeps an opener waiting.
func openNow(path string, flag int, perm fs.FileMode) (*os.File, error) {
	return os.OpenFile(path, flag, perm)
}
