package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"time"

	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/model/textparse"
	"github.com/prometheus/prometheus/promql"
	"github.com/prometheus/prometheus/promql/parser"
	"github.com/prometheus/prometheus/tsdb"
)

// A store keeps what was scraped, and evaluates queries.
type store struct {
	dir    string
	db     *tsdb.DB
	engine *promql.Engine
}

func openStore() (*store, error) {
	dir, err := os.MkdirTemp("", "dashboard")
	if err != nil {
		return nil, fmt.Errorf("cannot make a folder for samples: %w", err)
	}
	db, err := tsdb.Open(dir, nil, nil, tsdb.DefaultOptions(), nil)
	if err != nil {
		return nil, fmt.Errorf("cannot open a store of samples: %w", err)
	}
	engine := promql.NewEngine(promql.EngineOpts{
		MaxSamples: 10_000_000, Timeout: time.Minute, LookbackDelta: time.Minute, Parser: parser.NewParser(parser.Options{}),
	})
	return &store{dir: dir, db: db, engine: engine}, nil
}

func (s *store) close() {
	_ = s.db.Close()
	_ = os.RemoveAll(s.dir)
}

// add adds an answer to a scrape, with the labels that a Prometheus gives it.
func (s *store) add(ctx context.Context, at time.Time, instance, text string) error {
	appender := s.db.Appender(ctx)
	samples := textparse.NewPromParser([]byte(text), labels.NewSymbolTable(), false)
	for {
		entry, err := samples.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return errors.Join(fmt.Errorf("cannot read the metrics of %s: %w", instance, err), appender.Rollback())
		}
		if entry != textparse.EntrySeries {
			continue
		}
		_, _, value := samples.Series()
		var found labels.Labels
		samples.Labels(&found)
		series := labels.NewBuilder(found).Set("instance", instance).Set("cluster", "playground").Set("namespace", "defaultplan-system").Labels()
		if _, err := appender.Append(0, series, at.UnixMilli(), value); err != nil {
			return errors.Join(fmt.Errorf("cannot keep a sample of %s: %w", instance, err), appender.Rollback())
		}
	}
	return appender.Commit()
}

// A series is what a query found, over time.
type series struct {
	labels labels.Labels
	points []promql.FPoint
}

// last is the newest value.
func (s *series) last() float64 { return s.points[len(s.points)-1].F }

// over evaluates a query over a time.
func (s *store) over(ctx context.Context, query string, from, to time.Time) ([]series, error) {
	q, err := s.engine.NewRangeQuery(ctx, s.db, nil, query, from, to, 5*time.Second)
	if err != nil {
		return nil, fmt.Errorf("cannot evaluate %q: %w", query, err)
	}
	defer q.Close()
	matrix, err := q.Exec(ctx).Matrix()
	if err != nil {
		return nil, fmt.Errorf("cannot evaluate %q: %w", query, err)
	}
	var found []series
	for _, one := range matrix {
		kept := series{labels: one.Metric}
		for _, point := range one.Floats {
			if !math.IsNaN(point.F) {
				kept.points = append(kept.points, point)
			}
		}
		if len(kept.points) > 0 {
			found = append(found, kept)
		}
	}
	return found, nil
}
