//go:build desktop

package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/signal"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"

	"github.com/wailsapp/wails/v2"
	"github.com/wailsapp/wails/v2/pkg/logger"
	"github.com/wailsapp/wails/v2/pkg/options"
	"github.com/wailsapp/wails/v2/pkg/options/assetserver"
	"github.com/wailsapp/wails/v2/pkg/options/linux"
	"github.com/wailsapp/wails/v2/pkg/runtime"

	"termic/app/gui"
)

func init() { window = openWindow }

// openWindow runs the app with its window until it is closed. It answers without arguments, and with --data-dir
// alone; everything else is the command line's.
func openWindow(args []string) (status int, opened bool) {
	dataDir, ok, err := windowArguments(args)
	if !ok {
		return 0, false
	}
	if err == nil {
		err = runWindow(dataDir)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "termic:", err)
		return 1, true
	}
	return 0, true
}

// runWindow returns when the window is closed and everything is stopped.
func runWindow(dataDir string) error {
	// What tabs start from is taken before anything is set for the window's own sake.
	environ := os.Environ()
	if err := prepareDisplay(); err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP)
	defer stop()
	host := &desktop{}
	running, err := start(ctx, dataDir, environ, true, host) // a desktop starts it, with an environment that no terminal has
	if err != nil || running == nil {
		return err
	}
	// The window comes while the app opens: WebKit takes a while of its own, and so may the login shell.
	go func() {
		server, err := running.wait()
		if err != nil {
			host.Quit()
			return
		}
		host.server.Store(server)
	}()
	// Wails too hears signals, once; this hears them always, so that a question about quitting cannot stop one.
	defer context.AfterFunc(ctx, host.Quit)()
	err = runWails(host, running.door)
	return errors.Join(err, running.stop())
}

// runWails shows the window and returns when it is gone. GTK panics where it cannot start.
func runWails(host *desktop, page http.Handler) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("the window does not open: %v; set DISPLAY to one that answers, or run: termic serve", p)
		}
	}()
	return wails.Run(&options.App{
		Title: "termic", Width: 1280, Height: 800, MinWidth: 720, MinHeight: 480,
		BackgroundColour: options.NewRGB(22, 24, 26),
		AssetServer:      &assetserver.Options{Handler: page},
		LogLevel:         logger.ERROR, LogLevelProduction: logger.ERROR,
		OnStartup:     host.started,
		OnBeforeClose: host.beforeClose,
		Linux: &linux.Options{
			ProgramName: "termic", WebviewGpuPolicy: linux.WebviewGpuPolicyOnDemand,
		},
		DragAndDrop: &options.DragAndDrop{EnableFileDrop: true},
	})
}

// desktop is the window; it implements gui.Host. Everything that needs the context of Wails is here, since with
// any other context its runtime ends the program.
type desktop struct {
	server   atomic.Pointer[gui.Server] // nil until the app has opened
	quitting atomic.Bool
	asked    atomic.Bool

	mu  sync.Mutex
	ctx context.Context // of Wails; nil until the window is there
}

func (d *desktop) started(ctx context.Context) {
	d.mu.Lock()
	d.ctx = ctx
	d.mu.Unlock()
	if d.quitting.Load() {
		d.Quit()
	}
}

func (d *desktop) window() context.Context {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.ctx
}

// beforeClose keeps the window open once while agents work, and lets the page ask. A page that cannot ask, and
// a second attempt, are not held up.
func (d *desktop) beforeClose(context.Context) (keep bool) {
	server := d.server.Load()
	if server == nil || d.quitting.Load() || d.asked.Swap(true) {
		return false
	}
	return server.AskQuit(func() { d.asked.Store(false) })
}

var errNoWindow = errors.New("the window is not there yet")

func (d *desktop) PickDirectory(title string) (string, error) {
	ctx := d.window()
	if ctx == nil {
		return "", errNoWindow
	}
	return runtime.OpenDirectoryDialog(ctx, runtime.OpenDialogOptions{Title: title})
}

func (d *desktop) OpenURL(url string) error {
	ctx := d.window()
	if ctx == nil {
		return errNoWindow
	}
	runtime.BrowserOpenURL(ctx, url)
	return nil
}

func (d *desktop) Front() {
	if ctx := d.window(); ctx != nil {
		runtime.WindowUnminimise(ctx)
		runtime.Show(ctx)
	}
}

func (d *desktop) Quit() {
	d.quitting.Store(true)
	if ctx := d.window(); ctx != nil {
		runtime.Quit(ctx)
	}
}

// underTest is set in the window that a WebDriver may drive, which reaches it by WEBKIT_INSPECTOR_SERVER.
var underTest bool

// prepareDisplay says what is missing where no window can be, and takes away what would open a port into ours.
func prepareDisplay() error {
	if strings.TrimSpace(os.Getenv("DISPLAY")+os.Getenv("WAYLAND_DISPLAY")) == "" {
		return errors.New("no display: DISPLAY and WAYLAND_DISPLAY are not set; set one, or run without a window: termic serve")
	}
	// Wails has GTK look for X alone unless XDG_SESSION_TYPE says otherwise, which only a login sets.
	if os.Getenv("DISPLAY") == "" && os.Getenv("GDK_BACKEND") == "" {
		if err := os.Setenv("GDK_BACKEND", "wayland"); err != nil {
			return err
		}
	}
	for _, entry := range os.Environ() {
		if name, _, _ := strings.Cut(entry, "="); strings.HasPrefix(name, "WEBKIT_INSPECTOR_") && !underTest {
			if err := os.Unsetenv(name); err != nil {
				return err
			}
		}
	}
	// WebKit's DMA-BUF renderer shows nothing with NVIDIA's driver on some machines
	// (https://github.com/wailsapp/wails/issues/2977); whoever wants it there sets the variable to 0.
	if _, err := os.Stat("/proc/driver/nvidia/version"); err == nil && os.Getenv(noDMABUF) == "" {
		return os.Setenv(noDMABUF, "1")
	}
	return nil
}

const noDMABUF = "WEBKIT_DISABLE_DMABUF_RENDERER"

// Renderer tells what terminals are to be drawn with. Without the DMA-BUF renderer WebKitGTK 2.50 shows what WebGL
// has drawn one frame late: the last line of output would stay unseen until the next.
func (d *desktop) Renderer() string {
	if value := os.Getenv(noDMABUF); value != "" && value != "0" {
		return "dom"
	}
	return "webgl"
}
