package update

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"
)

const (
	answerWithin = 30 * time.Second // for the list and its signature together
	stallAfter   = 30 * time.Second // how long a file may bring nothing
	fileWithin   = time.Hour
	maxFile      = 256 << 20
	maxRedirects = 5
	partMark     = ".part-" // stands behind the name of a file that is being fetched
)

var (
	errStalled = errors.New("nothing more came for " + stallAfter.String())
	errSlow    = errors.New("it took too long")
)

// Fetch puts a file of a release into a folder, which must exist, and returns
// its path. Under its own name it stands there only once its sum is that of the
// signed list. One that is there already with that sum is taken as it is; another
// one of that name is left alone, and the error is fs.ErrExist.
func (s *Source) Fetch(ctx context.Context, f File, folder string) (path string, err error) {
	path = filepath.Join(folder, f.Name)
	switch sum, err := sumOf(path); {
	case err == nil && sum == f.Sum:
		return path, nil
	case err == nil:
		return "", &fs.PathError{Op: "fetch", Path: path, Err: fs.ErrExist}
	case !errors.Is(err, fs.ErrNotExist):
		return "", err
	}
	clearParts(folder)
	part, err := os.CreateTemp(folder, "."+f.Name+partMark)
	if err != nil {
		return "", err
	}
	if err := errors.Join(s.fill(ctx, part, f), part.Close()); err != nil {
		return "", errors.Join(err, os.Remove(part.Name()))
	}
	switch sum, err := sumOf(path); { // come meanwhile
	case err == nil && sum == f.Sum: // by another fetch of it
		return path, os.Remove(part.Name())
	case err == nil:
		return "", errors.Join(&fs.PathError{Op: "fetch", Path: path, Err: fs.ErrExist}, os.Remove(part.Name()))
	case !errors.Is(err, fs.ErrNotExist):
		return "", errors.Join(err, os.Remove(part.Name()))
	}
	return path, os.Rename(part.Name(), path)
}

// clearParts removes what killed fetches of any release have left. Those that run
// are safe: none takes longer than fileWithin, and each writes until it ends.
func clearParts(folder string) {
	list, err := os.ReadDir(folder)
	if err != nil {
		return // making the part says so
	}
	for _, e := range list {
		name, _, ok := strings.Cut(e.Name(), partMark)
		name, hidden := strings.CutPrefix(name, ".")
		if !ok || !hidden || versionIn(name) == "" {
			continue
		}
		if fi, err := e.Info(); err == nil && fi.Mode().IsRegular() && time.Since(fi.ModTime()) > fileWithin {
			_ = os.Remove(filepath.Join(folder, e.Name())) // another time then
		}
	}
}

// fill gets f into a file of another name, and checks that it is f.
func (s *Source) fill(ctx context.Context, part *os.File, f File) error {
	ctx, cancel := context.WithTimeout(ctx, fileWithin)
	defer cancel()
	sum := summing{sha256.New()}
	if err := s.get(ctx, f.Name, maxFile, io.MultiWriter(part, sum)); err != nil {
		return err
	}
	if sum.sum() != f.Sum {
		return fmt.Errorf("%w: %s", ErrSum, f.Name)
	}
	// Others may read it: a package manager does so as a user of its own.
	return errors.Join(part.Chmod(0o644), part.Sync())
}

type summing struct{ hash.Hash }

func (s summing) sum() (sum [32]byte) {
	s.Sum(sum[:0])
	return sum
}

func sumOf(path string) (sum [32]byte, err error) {
	fi, err := os.Lstat(path)
	if err != nil {
		return sum, err
	}
	if !fi.Mode().IsRegular() {
		return sum, nil // no sum of anything
	}
	file, err := os.Open(path)
	if err != nil {
		return sum, err
	}
	defer file.Close() //nolint:errcheck // only read
	h := summing{sha256.New()}
	_, err = io.Copy(h, file)
	return h.sum(), err
}

// read gets a small file.
func (s *Source) read(ctx context.Context, name string, limit int64) ([]byte, error) {
	var b bytes.Buffer
	err := s.get(ctx, name, limit, &b)
	return b.Bytes(), err
}

// get is all that this program ever asks of the network by itself: one file of
// the release, of at most limit bytes. Of the person it says nothing, not even
// which version asks: who sees that would know where an old one runs.
func (s *Source) get(ctx context.Context, name string, limit int64, to io.Writer) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	stalled := time.AfterFunc(stallAfter, func() { cancel(errStalled) })
	defer stalled.Stop()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, s.base.JoinPath(name).String(), nil)
	if err != nil {
		return err
	}
	request.Header.Set("User-Agent", "steward")
	proxy, err := http.ProxyFromEnvironment(request)
	if err != nil {
		return err
	}
	transport := &http.Transport{Proxy: http.ProxyFromEnvironment, DisableKeepAlives: true, DisableCompression: true, ForceAttemptHTTP2: true}
	defer transport.CloseIdleConnections()
	client := &http.Client{Transport: transport, CheckRedirect: s.redirect}
	answer, err := client.Do(request)
	if err != nil && proxy == nil { // a service that a client has started knows of none
		return fmt.Errorf("%w (asked without a proxy)", failed(ctx, err))
	}
	if err != nil {
		return failed(ctx, err)
	}
	defer answer.Body.Close() //nolint:errcheck // only read
	switch {
	case answer.StatusCode != http.StatusOK:
		return fmt.Errorf("%s: the server answered %s", name, answer.Status)
	case answer.ContentLength > limit:
		return fmt.Errorf("%s: %d bytes are more than the %d that are taken", name, answer.ContentLength, limit)
	}
	n, err := io.Copy(to, io.LimitReader(&watched{answer.Body, stalled}, limit+1))
	switch {
	case err != nil:
		return failed(ctx, err)
	case n > limit:
		return fmt.Errorf("%s: more than the %d bytes that are taken", name, limit)
	}
	return nil
}

// failed is why a request did not work, without the address around it.
func failed(ctx context.Context, err error) error {
	switch cause := context.Cause(ctx); {
	case errors.Is(cause, errStalled):
		return cause
	case errors.Is(cause, context.DeadlineExceeded):
		return errSlow
	case errors.Is(ctx.Err(), context.Canceled): // the cause may be a signal's name
		return ctx.Err()
	}
	if u, ok := errors.AsType[*url.Error](err); ok {
		return u.Err
	}
	return err
}

// redirect follows to an address of the same scheme alone.
func (s *Source) redirect(next *http.Request, before []*http.Request) error {
	switch {
	case len(before) > maxRedirects:
		return fmt.Errorf("more than %d redirects", maxRedirects)
	case next.URL.Scheme != s.base.Scheme || !allowed(next.URL):
		return fmt.Errorf("redirected to %s://%s, which is not followed", next.URL.Scheme, next.URL.Host)
	}
	next.Header.Del("Referer")
	return nil
}

// watched puts the end of a wait off while something comes.
type watched struct {
	from    io.Reader
	stalled *time.Timer
}

func (w *watched) Read(p []byte) (int, error) {
	n, err := w.from.Read(p)
	if n > 0 {
		w.stalled.Reset(stallAfter)
	}
	return n, err
}
