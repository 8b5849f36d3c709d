//go:build desktop && !bindings

package app

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"path/filepath"
	"sync"
	"syscall"

	"github.com/wailsapp/wails/v2"
	"github.com/wailsapp/wails/v2/pkg/options"
	"github.com/wailsapp/wails/v2/pkg/options/assetserver"
	"github.com/wailsapp/wails/v2/pkg/options/linux"
	"github.com/wailsapp/wails/v2/pkg/options/mac"
	"github.com/wailsapp/wails/v2/pkg/options/windows"

	"steward/app/daemon"
	"steward/mcp/ops"
)

// windowClass is how a process on Windows finds the window that the library makes.
const windowClass = "StewardWindow"

// window is one run of the window's process.
type window struct {
	logger   *slog.Logger
	frame    *frame
	stage    *Stage
	link     *Link
	instance *Instance
	work     daemon.Work

	quit     sync.Once
	prepared chan struct{}      // closed when frame, stage and link are there
	leaving  chan struct{}      // closed when the person, or a signal, has asked to quit
	gone     chan struct{}      // closed when the window goes while a task is active
	stop     context.CancelFunc // ends what serves
	signals  chan os.Signal
}

// Main shows the window and serves from its process until the person quits. It
// must be called on the main thread. env holds NAME=value pairs as os.Environ
// returns them; the exit code is one of the shell's.
func Main(version string, stderr io.Writer, env []string) int {
	err := run(version, stderr, daemon.NewEnv(env))
	if err == nil {
		return 0
	}
	e := ops.AsError(err)
	fmt.Fprintf(stderr, "steward: %s\n", e.Message)
	if e.Hint != "" {
		fmt.Fprintf(stderr, "  %s\n", e.Hint)
	}
	return e.Code.Exit()
}

func run(version string, stderr io.Writer, env daemon.Env) error {
	paths, err := daemon.Find(env)
	if err != nil {
		return err
	}
	settings := daemon.NewSettings(paths.Config, env)
	logger := daemon.NewLogger(&settings.Level, daemon.NewLogFile(paths.Log), stderr, false)
	settings.SetLogger(logger)
	w := &window{logger: logger, prepared: make(chan struct{}), leaving: make(chan struct{}), gone: make(chan struct{}), work: standIn(env), signals: make(chan os.Signal, 2)}
	ctx, stop := context.WithCancel(context.Background())
	w.stop = stop
	defer stop()
	if w.instance, err = claim(ctx, paths.Socket, env["DESKTOP_STARTUP_ID"], w.show, logger); err != nil || w.instance == nil {
		return err
	}
	defer w.instance.Close()
	if err := w.prepare(filepath.Join(paths.Home, "window.json")); err != nil {
		return err
	}
	s := &service{link: w.link, logger: logger, stopped: w.Quit, options: daemon.Options{
		Paths: paths, Env: env, Role: daemon.Window, Version: version, Settings: settings, Logger: logger, Work: w.work,
	}}
	served := make(chan struct{})
	go func() {
		defer close(served)
		s.serve(ctx, w.gone)
	}()
	w.onSignals()
	go w.heed()
	go w.stage.Work()
	err = w.present(paths.Home)
	w.frame.leave()
	w.instance.Close() // the next start is a window of its own
	w.Quit()           // if the library has ended by itself
	<-served
	return err
}

// prepare makes the window's parts, and finds out where it is to stand.
func (w *window) prepare(file string) error {
	f, err := newFrame(w.logger)
	if err != nil {
		return err
	}
	screens := f.Screens()
	if len(screens) == 0 {
		return &ops.Error{Code: ops.Unavailable, Message: "there is no display for the window here", Hint: "`steward serve` serves without one"}
	}
	p, err := loadPlaces(file)
	if err != nil {
		w.logger.Warn("where the orb stood is not known any more", "error", err)
	}
	start := p.orb(screens)
	w.frame, w.link = f, NewLink(w.logger, f.Emit)
	w.stage = NewStage(f, p, start, file, w.logger)
	f.stage.Store(w.stage)
	f.catch(start)
	close(w.prepared)
	return nil
}

// present shows the window until it is closed.
func (w *window) present(home string) error {
	err := wails.Run(&options.App{
		Title: "Steward", Width: orbSize.W, Height: orbSize.H, MinWidth: 1, MinHeight: 1, // more would widen the orb
		Frameless: true, AlwaysOnTop: true,
		BackgroundColour: options.NewRGBA(0, 0, 0, 0),
		AssetServer:      &assetserver.Options{Assets: page(), Middleware: guard},
		DragAndDrop:      &options.DragAndDrop{DisableWebViewDrop: true},
		Bind:             []any{newApp(w.link, w.stage, w, w.logger)},
		ErrorFormatter:   func(err error) any { return err.Error() },
		Logger:           libraryLog{w.logger},
		OnStartup: func(ctx context.Context) {
			w.frame.ctx.Store(&ctx)
			w.onSignals() // the library has set its own handler by now
			close(w.frame.up)
		},
		OnBeforeClose: w.beforeClose,
		// Without the rest of a policy, a ghost of the orb stays under the panel.
		Linux: &linux.Options{ProgramName: "steward", Icon: icon, WindowIsTranslucent: true, WebviewGpuPolicy: linux.WebviewGpuPolicyOnDemand},
		Windows: &windows.Options{WebviewIsTransparent: true, WindowIsTranslucent: true, BackdropType: windows.None,
			DisableFramelessWindowDecorations: true, DisablePinchZoom: true, WindowClassName: windowClass, WebviewUserDataPath: filepath.Join(home, "webview")},
		Mac: &mac.Options{WebviewIsTransparent: true, DisableZoom: true}, // translucent would be a frosted square behind the orb
	})
	if err != nil {
		return &ops.Error{Code: ops.Unavailable, Message: "the window cannot be shown: " + err.Error(), Hint: "`steward serve` serves without one", Err: err}
	}
	return nil
}

// beforeClose is asked when the system wants the window closed. The panel folds;
// the orb quits.
func (w *window) beforeClose(context.Context) (prevent bool) {
	select {
	case <-w.leaving:
		return false
	default:
	}
	w.stage.Asked(w.Quit)
	return true
}

// Copy puts text into the clipboard.
func (w *window) Copy(text string) error { return w.frame.Copy(text) }

// Quit closes the window. The process ends when what runs has been answered, or,
// with a task active, when that has ended.
func (w *window) Quit() {
	w.quit.Do(func() {
		w.logger.Info("the window closes")
		close(w.leaving)
		go func() {
			w.instance.Close()
			owner := !w.link.Attached()
			w.link.Close()
			w.stage.Close()
			if owner && w.work != nil && w.work.Active() {
				close(w.gone)
			} else {
				w.stop()
			}
			w.frame.end()
		}()
	})
}

// show is what a second start asks for: a person wants to see the window.
func (w *window) show(ctx context.Context, startup string) error {
	select {
	case <-w.prepared:
	case <-w.leaving:
		return errLeaving
	case <-ctx.Done():
		return errors.New("it is still starting")
	}
	w.frame.start.Store(&startup)
	alive := make(chan struct{})
	w.stage.Show(func() {
		go func() {
			if w.frame.alive() {
				close(alive)
			}
		}()
	})
	select {
	case <-alive:
		return nil
	case <-w.leaving:
		return errLeaving
	case <-ctx.Done():
		return errors.New("it is busy")
	}
}

// onSignals lets the first signal quit, and the second end what still serves.
// Called again it replaces every handler there is by its own.
func (w *window) onSignals() {
	all := []os.Signal{os.Interrupt, syscall.SIGTERM}
	if !signal.Ignored(syscall.SIGHUP) { // nohup has switched it off
		all = append(all, syscall.SIGHUP)
	}
	signal.Reset(all...)
	signal.Notify(w.signals, all...)
}

func (w *window) heed() {
	for range w.signals {
		select {
		case <-w.leaving:
			w.stop()
		default:
			w.Quit()
		}
	}
}
