package ledger

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// CopyFile writes a whole copy of a ledger file, with what its write-ahead log
// holds, to a new file, and checks the copy: completely, or one of an older schema
// by SQLite's own check and its last events. A fault of the ledger is in the
// Report; the copy is then removed again. Errors: fs.ErrNotExist, ErrNotPlain,
// ErrForeign, ErrNewer, ErrFull, ErrReadOnly.
func CopyFile(ctx context.Context, from, to string, progress func(done, total int64)) (Report, error) {
	from, err := RealPath(from)
	if err != nil {
		return Report{}, err
	}
	version, err := inspect(from, len(ladder))
	if err != nil {
		if errors.Is(err, ErrForeign) {
			return Report{}, err
		}
		return corruptReport(err)
	}
	c, err := connectRead(from)
	if err != nil {
		return corruptReport(err)
	}
	if _, err = c.exec(`PRAGMA query_only = 0`); err == nil { // the file is open for reading alone; the copy is what is written
		err = copyTo(ctx, c, to)
	}
	c.close()
	if err != nil {
		return corruptReport(err)
	}
	var r Report
	if version < len(ladder) {
		r, err = checkOlder(to)
	} else {
		r, err = VerifyFile(ctx, to, progress)
	}
	if err != nil || !r.OK() {
		err = errors.Join(err, os.Remove(to))
	}
	return r, err
}

// checkOlder checks a copy that a start of the service will migrate.
func checkOlder(path string) (r Report, err error) {
	c, err := connect(path, "ro", "query_only = 1")
	if err != nil {
		return corruptReport(err)
	}
	defer c.close()
	if err := c.queryRow(`PRAGMA integrity_check(1)`).Scan(&r.Problem); err != nil {
		return corruptReport(classify(err))
	}
	if r.Problem != "ok" {
		r.Problem = "SQLite finds: " + r.Problem
		return r, nil
	}
	r.Problem = ""
	one := make(chan *conn, 1)
	one <- c
	if err := checkTail(one, 256); err != nil {
		return corruptReport(err)
	}
	err = c.queryRow(`SELECT last_id, lower(hex(hash)) FROM head`).Scan(&r.LastID, &r.Hash)
	r.Events = r.LastID
	return r, classify(err)
}

// Replace puts the file with, which lies in the same folder, in the place of the
// ledger at path. What is there, with the files beside it, gets the name aside
// first and stays; kept lists those. The caller holds the Lock of path. A crash
// leaves the old ledger or the new one, never a mixture: until the new one has the
// name, the old one keeps it beside its new name.
func Replace(path, with, aside string) (kept []string, err error) {
	path, err = RealPath(path)
	if err != nil {
		return nil, err
	}
	var old []string
	for _, suffix := range append(besideSuffixes[:], "") { // the ledger itself last
		switch err := os.Link(path+suffix, aside+suffix); {
		case errors.Is(err, fs.ErrNotExist):
			continue
		case err != nil: // a file system without second names
			if err := os.Rename(path+suffix, aside+suffix); err != nil {
				return kept, fmt.Errorf("set %s aside: %w", filepath.Base(path+suffix), notWritable(err))
			}
		case suffix != "":
			old = append(old, path+suffix)
		}
		kept = append(kept, aside+suffix)
	}
	if err := syncDir(filepath.Dir(aside)); err != nil {
		return kept, notWritable(err)
	}
	// The copy's header says that it has no write-ahead log, so the old one beside
	// it would not be taken for its own.
	if err := os.Rename(with, path); err != nil {
		return kept, notWritable(err)
	}
	for _, name := range old {
		if err := os.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return kept, notWritable(err)
		}
	}
	return kept, syncDir(filepath.Dir(path))
}
