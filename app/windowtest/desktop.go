package windowtest

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"image"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// Needs are the programs that a Desktop is made of.
var Needs = []string{"Xvfb", "openbox", "picom"}

// patience is how long anything here may take that is not measured.
const patience = 20 * time.Second

// Desktop is a screen of 1280 by 900 pixels that nobody sees, with a window
// manager, and stripes behind everything.
type Desktop struct {
	*X
	Name string // of the display
	dir  string
	all  []*exec.Cmd
	comp *exec.Cmd
}

// NewDesktop starts one. A compositor comes with Compose.
func NewDesktop() (*Desktop, error) {
	dir, err := os.MkdirTemp("", "desktop")
	if err != nil {
		return nil, err
	}
	d := &Desktop{dir: dir}
	if err := d.start(); err != nil {
		return nil, errors.Join(err, d.Close())
	}
	return d, nil
}

func (d *Desktop) start() error {
	server := exec.Command("Xvfb", "-displayfd", "1", "-screen", "0", "1280x900x24", "-nolisten", "tcp")
	out, err := server.StdoutPipe()
	if err != nil {
		return err
	}
	if err := d.run(server); err != nil {
		return err
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		return fmt.Errorf("xvfb names no display: %w", err)
	}
	n, err := strconv.Atoi(strings.TrimSpace(line))
	if err != nil {
		return err
	}
	d.Name = ":" + strconv.Itoa(n)
	if d.X, err = DialX(n); err != nil {
		return err
	}
	if err := d.run(exec.Command("openbox")); err != nil {
		return err
	}
	if err := Until(patience, d.managed); err != nil {
		return err
	}
	return d.Stripes()
}

// managed tells whether the window manager takes a new window in hand. It says
// that it is there some time before it does.
func (d *Desktop) managed() error {
	w, err := d.Open("is anybody there", image.Rect(0, 0, 10, 10))
	if err == nil {
		err = Until(100*time.Millisecond, func() error {
			found, err := d.Find("is anybody there")
			if err == nil && found == 0 {
				err = errors.New("openbox does not manage windows")
			}
			return err
		})
	}
	return errors.Join(err, d.Destroy(w))
}

// run starts one of the desktop's own programs.
func (d *Desktop) run(cmd *exec.Cmd) error {
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + d.dir, "XDG_RUNTIME_DIR=" + d.dir, "LANG=C.UTF-8", "DISPLAY=" + d.Name}
	cmd.SysProcAttr = endsWithUs()
	if err := cmd.Start(); err != nil {
		return err
	}
	d.all = append(d.all, cmd)
	return nil
}

// Compose starts the compositor.
func (d *Desktop) Compose() error {
	d.comp = exec.Command("picom", "--config", os.DevNull, "--backend", "xrender")
	if err := d.run(d.comp); err != nil {
		return err
	}
	selection, err := d.atom("_NET_WM_CM_S0")
	if err != nil {
		return err
	}
	return Until(patience, func() error {
		b, err := d.ask(23, 0, selection)
		if err == nil && le.Uint32(b[8:]) == 0 {
			err = errors.New("picom does not compose")
		}
		return err
	})
}

// Close ends all of it.
func (d *Desktop) Close() error {
	var errs []error
	if d.X != nil {
		errs = append(errs, d.X.Close())
	}
	for i := len(d.all) - 1; i >= 0; i-- {
		errs = append(errs, d.all[i].Process.Kill())
		_ = d.all[i].Wait() // it was killed
	}
	return errors.Join(append(errs, os.RemoveAll(d.dir))...)
}

// Until asks for something until it is so, and says at the end why it is not.
func Until(most time.Duration, so func() error) error {
	for limit := time.Now().Add(most); ; {
		err := so()
		if err == nil {
			return nil
		}
		if time.Now().After(limit) {
			return fmt.Errorf("after %v: %w", most, err)
		}
		time.Sleep(5 * time.Millisecond)
	}
}

// House is a state folder of its own, and what a person's session would have.
type House struct {
	Dir  string // holds all of it
	Home string // the state folder
}

// NewHouse makes one.
func NewHouse() (*House, error) {
	dir, err := os.MkdirTemp("", "st") // short, as sockets live below it
	if err == nil {
		dir, err = filepath.EvalSymlinks(dir)
	}
	if err != nil {
		return nil, err
	}
	h := &House{Dir: dir, Home: filepath.Join(dir, "s")}
	return h, errors.Join(os.Mkdir(filepath.Join(dir, "run"), 0o700), os.Mkdir(h.Home, 0o700))
}

// Command is a Steward in this house.
func (h *House) Command(program string, args ...string) *exec.Cmd {
	cmd := exec.Command(program, args...)
	cmd.Dir = h.Dir
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + h.Dir, "XDG_RUNTIME_DIR=" + filepath.Join(h.Dir, "run"), "LANG=C.UTF-8",
		"STEWARD_HOME=" + h.Home, "STEWARD_BACKUP_DAILY=false", "STEWARD_STREAM=studio",
		"NO_AT_BRIDGE=1", "DBUS_SESSION_BUS_ADDRESS=disabled:"} // no bus is started for us
	return cmd
}

// Run runs a command to its end and returns what it printed.
func (h *House) Run(program string, args ...string) (string, error) {
	out, err := h.Command(program, args...).CombinedOutput()
	if err != nil {
		err = fmt.Errorf("steward %s: %w\n%s", strings.Join(args, " "), err, bytes.TrimSpace(out))
	}
	return string(out), err
}
