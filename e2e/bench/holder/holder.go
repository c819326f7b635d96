package holder

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"runtime"
	"runtime/debug"
	"runtime/pprof"

	"github.com/go-logr/zapr"
	"github.com/spf13/cobra"
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/defaultplan/defaultplan/e2e/bench/catalog"
	"github.com/defaultplan/defaultplan/e2e/bench/measure"
	"github.com/defaultplan/defaultplan/e2e/bench/review"
	"github.com/defaultplan/defaultplan/webhook"
	"github.com/defaultplan/defaultplan/webhook/options"
	"github.com/defaultplan/defaultplan/webhook/policies"
)

// A Holding is what a process that holds a catalog says once it is loaded: how
// much memory it took, in MB of 10^6 bytes.
type Holding struct {
	// Heap is what lives on the heap more than before, Resident what the process
	// occupies more than before, once it gave back what it needed for loading.
	Heap, Resident float64
}

// An Order has a holder admit a number of instances, each of another family.
type Order struct {
	Way   Way
	Count int
}

// A Way is how an instance says what it wants.
type Way string

// The ways that are measured: a named plan, a type, a class alone.
const (
	WayNamed Way = "named"
	WayType  Way = "type"
	WayClass Way = "class"
)

func (w Way) spec(f *catalog.Family) review.Spec {
	switch w {
	case WayType:
		return review.ByType(f)
	case WayClass:
		return review.ByClass(f)
	default:
		return review.Named(f)
	}
}

// A Cost is what one admission of an order took.
type Cost struct {
	// Microseconds of processor time, garbage collection included.
	Microseconds float64
	Allocations  float64
	Bytes        float64
}

// Command holds a catalog in its cache and mutates instances: without a
// network, so that nothing hides what the catalog's size costs. It reads orders
// from its input and writes costs to its output, one JSON value in a line.
func Command() *cobra.Command {
	var plans int
	var profile string
	command := &cobra.Command{
		Use: "hold", Short: "Hold a catalog and admit instances", Hidden: true, Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			// Decisions are logged as in cmd/webhook, to nowhere.
			logger := zap.New(zapcore.NewCore(zapcore.NewJSONEncoder(zap.NewProductionEncoderConfig()), zapcore.AddSync(io.Discard), zapcore.InfoLevel))
			ctrl.SetLogger(zapr.NewLogger(logger))
			h, held, err := newHolder(c.Context(), plans)
			if err != nil {
				return err
			}
			if err := json.NewEncoder(os.Stdout).Encode(held); err != nil {
				return fmt.Errorf("cannot answer: %w", err)
			}
			return profiled(profile, func() error { return h.obey(c.Context(), os.Stdin, os.Stdout) })
		},
	}
	command.Flags().IntVar(&plans, "plans", 100, "number of plans")
	command.Flags().StringVar(&profile, "profile", "", "file for a profile of the processor time that orders take")
	return command
}

func profiled(path string, work func() error) error {
	if path == "" {
		return work()
	}
	file, err := os.Create(path)
	if err != nil {
		return fmt.Errorf("cannot write the profile: %w", err)
	}
	if err := pprof.StartCPUProfile(file); err != nil {
		return fmt.Errorf("cannot write the profile: %w", err)
	}
	err = work()
	pprof.StopCPUProfile()
	return errors.Join(err, file.Close())
}

// A holder admits instances by a catalog of its own.
type holder struct {
	families []*catalog.Family
	mux      *http.ServeMux
	// next is the family whose turn it is.
	next int
	// written are the reviews of orders, made beforehand.
	written map[Way][][]byte
}

// heapRoom is that of cmd/webhook, in bytes.
const heapRoom = 64 << 20

// mostReviews bounds how many different reviews a holder writes for one way.
const mostReviews = 2000

func newHolder(ctx context.Context, plans int) (*holder, Holding, error) {
	h := &holder{mux: http.NewServeMux(), written: map[Way][][]byte{}}
	for i := range plans / catalog.PlansPerFamily {
		h.families = append(h.families, &catalog.Family{Name: fmt.Sprintf("family-%d", i), Plans: catalog.PlansPerFamily, Schema: true})
	}
	before, err := weigh()
	if err != nil {
		return nil, Holding{}, err
	}
	cached, err := loadedCache(ctx, h.families)
	if err != nil {
		return nil, Holding{}, err
	}
	after, err := weigh()
	if err != nil {
		return nil, Holding{}, err
	}
	// As cmd/webhook does: a small catalog is collected less often than Go would.
	debug.SetGCPercent(int(max(100, 100*heapRoom/(after.Heap*1e6))))
	// What is read live is read from the same cache: the API server's work is
	// measured with the API server.
	webhook.Register(h, webhook.Readers{Cached: cached, Live: cached, Current: func() bool { return true }, Policies: policies.NewRuleSet()}, options.New())
	return h, Holding{Heap: after.Heap - before.Heap, Resident: after.Resident - before.Resident}, h.write()
}

// Register makes a holder a review.Registrar.
func (h *holder) Register(path string, handler http.Handler) { h.mux.Handle(path, handler) }

// write writes the reviews, of families spread over the whole catalog.
func (h *holder) write() error {
	step := max(1, len(h.families)/mostReviews)
	for _, w := range []Way{WayNamed, WayType, WayClass} {
		for i := 0; i < len(h.families); i += step {
			body, err := review.OfInstance(review.Arriving(w.spec(h.families[i]), review.UserParameters))
			if err != nil {
				return err
			}
			h.written[w] = append(h.written[w], body)
		}
	}
	return nil
}

// obey fills orders until there are no more.
func (h *holder) obey(ctx context.Context, orders io.Reader, answers io.Writer) error {
	lines := bufio.NewScanner(orders)
	for lines.Scan() {
		var o Order
		if err := json.Unmarshal(lines.Bytes(), &o); err != nil {
			return fmt.Errorf("cannot read an order: %w", err)
		}
		c, err := h.fill(ctx, o)
		if err != nil {
			return err
		}
		if err := json.NewEncoder(answers).Encode(c); err != nil {
			return fmt.Errorf("cannot answer: %w", err)
		}
	}
	return lines.Err() //nolint:wrapcheck // of our own pipe
}

func (h *holder) fill(ctx context.Context, o Order) (Cost, error) {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	started, err := measure.CPU(os.Getpid())
	if err != nil {
		return Cost{}, err
	}
	for range o.Count {
		if err := h.admit(ctx, o.Way); err != nil {
			return Cost{}, err
		}
	}
	ended, err := measure.CPU(os.Getpid())
	runtime.ReadMemStats(&after)
	each := float64(o.Count)
	return Cost{
		Microseconds: float64((ended - started).Nanoseconds()) / 1e3 / each,
		Allocations:  float64(after.Mallocs-before.Mallocs) / each,
		Bytes:        float64(after.TotalAlloc-before.TotalAlloc) / each,
	}, err
}

func (h *holder) admit(ctx context.Context, w Way) error {
	bodies := h.written[w]
	body := bodies[h.next%len(bodies)]
	h.next++
	request := httptest.NewRequestWithContext(ctx, http.MethodPost, webhook.MutateInstances, bytes.NewReader(body))
	request.Header.Set("Content-Type", "application/json")
	recorder := httptest.NewRecorder()
	h.mux.ServeHTTP(recorder, request)
	if recorder.Code != http.StatusOK || !bytes.Contains(recorder.Body.Bytes(), []byte(`"allowed":true`)) {
		return fmt.Errorf("an instance by %s is not admitted: %d: %s", w, recorder.Code, recorder.Body)
	}
	return nil
}
