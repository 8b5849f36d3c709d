package ops

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"steward/handoff"
	"steward/ledger"
)

// Opener shows files to the person with the programs of the desktop. Paths are
// absolute, and were looked at before.
type Opener interface {
	// Open opens a file with the program that the person uses for its kind.
	Open(ctx context.Context, file string) error
	// Show opens the folder of a file or folder, with it marked where the
	// desktop can do that.
	Show(ctx context.Context, path string) error
}

type attachmentOpenArgs struct {
	Handoff string `json:"handoff_id" arg:"required,line,max=128" doc:"hnd_… or the short H-…"`
	Index   int64  `json:"index" arg:"required,min=0,max=19" doc:"Of the attachment, from 0"`
}

// Opened says what was opened.
type Opened struct {
	Opened string `json:"opened" words:"file|folder" doc:"folder when the system might have run the file instead of showing it"`
	Path   string `json:"path" doc:"of the file or folder, links resolved"`
}

func attachmentOpen() Op {
	return Act(Spec{
		Name:  "attachment_open",
		Title: "Open an attachment",
		Text:  "Open an attachment of a handoff on this machine. What the system might run is shown in its folder instead.",
		// Not for the page: it may be on another machine than the file.
		Surfaces: Window,
		Person:   true,
	}, func(ctx context.Context, env *Env, _ Caller, in attachmentOpenArgs) (Opened, error) {
		var h handoff.Handoff
		err := env.Log.View(ctx, func(v *ledger.View) (err error) {
			h, err = handoff.Get(v, in.Handoff)
			return err
		})
		if err != nil {
			return Opened{}, err
		}
		return openOf(ctx, env.Opener, h, in.Index)
	})
}

// OpenAttachment is attachment_open for a window that is attached to the service
// of another process, which may have no desktop to open anything on: the handoff
// is read with get, which calls an operation there, and opened with o here.
func OpenAttachment(ctx context.Context, o Opener, args json.RawMessage, get func(ctx context.Context, name string, args json.RawMessage) (json.RawMessage, error)) (json.RawMessage, error) {
	in, err := decode[attachmentOpenArgs](attachmentOpen().In, args)
	if err != nil {
		return nil, err
	}
	ask, err := json.Marshal(handoffGetArgs{Handoff: in.Handoff})
	if err != nil {
		return nil, err
	}
	answer, err := get(ctx, "handoff_get", ask)
	if err != nil {
		return nil, err
	}
	var detail HandoffDetail
	if err := json.Unmarshal(answer, &detail); err != nil {
		return nil, fmt.Errorf("handoff_get: %w", err)
	}
	out, err := openOf(ctx, o, detail.Handoff, in.Index)
	if err != nil {
		return nil, err
	}
	return marshal(out)
}

func openOf(ctx context.Context, o Opener, h handoff.Handoff, index int64) (Opened, error) {
	if index >= int64(len(h.Attachments)) {
		return Opened{}, &Error{Code: NotFound, Field: "index", Message: fmt.Sprintf("index: the handoff has %d attachments, counted from 0; got %d", len(h.Attachments), index)}
	}
	if o == nil {
		return Opened{}, &Error{Code: Unavailable, Message: "nothing can be opened from here"}
	}
	return open(ctx, o, h.Attachments[index].Path)
}

// open opens the file at an agent's path, or shows it where it lies.
func open(ctx context.Context, o Opener, path string) (Opened, error) {
	if !filepath.IsAbs(path) || elsewhere(path) {
		return Opened{}, &Error{Code: Invalid, Field: "index", Message: "the attachment's path is not an absolute one on this machine: " + strconv.Quote(ledger.Clip(path, 200)),
			Hint: "copy the path and look for it yourself"}
	}
	path, harmless, err := examine(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return Opened{}, &Error{Code: NotFound, Field: "index", Message: "there is no such file any more", Err: err}
	case err != nil:
		return Opened{}, &Error{Code: Unavailable, Message: "the file cannot be looked at", Hint: "copy the path and look for it yourself", Err: err}
	}
	out := Opened{Opened: "file", Path: path}
	if harmless {
		err = o.Open(ctx, path)
	} else {
		out = Opened{Opened: "folder", Path: filepath.Dir(path)}
		err = o.Show(ctx, path)
	}
	if err != nil {
		if e, ok := errors.AsType[*Error](err); ok {
			return Opened{}, e
		}
		return Opened{}, &Error{Code: Unavailable, Message: "the system could not open it", Hint: "copy the path and open it yourself", Err: err}
	}
	return out, nil
}

// examine resolves the links in path and tells whether what is there is a file
// that the system shows and does not run. Nothing is opened for it: a pipe
// would make that wait.
func examine(path string) (real string, harmless bool, err error) {
	if real, err = filepath.EvalSymlinks(path); err != nil {
		return "", false, err
	}
	fi, err := os.Lstat(real) // what has become a link since is none of what was examined
	if err != nil {
		return "", false, err
	}
	return real, fi.Mode().IsRegular() && !runs(real, fi), nil
}

// launchers are the endings of files that start something when they are opened,
// on some system or with a common program on it. Every system heeds all of
// them: a file server, Wine or a virtual machine brings one's to the other.
var launchers = words(`app appimage appref-ms application bat cmd com command cpl desktop exe fileloc flatpakref flatpakrepo
	gadget hta inetloc inf ins isp jar jnlp jse lnk mpkg msc msi msix msp mst pif pkg prefpane ps1 psc1 psd1 psm1 reg run
	scf scpt scptd scr service settingcontent-ms shs terminal tool url vb vbe vbs webloc website workflow action wsc wsf wsh xbap`)

func words(list string) map[string]bool {
	m := map[string]bool{}
	for w := range strings.FieldsSeq(list) {
		m[w] = true
	}
	return m
}

// ending is what follows the last dot of a name, in lower case.
func ending(path string) string {
	return strings.ToLower(strings.TrimPrefix(filepath.Ext(path), "."))
}
