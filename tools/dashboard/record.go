package main

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// processes are those of a playground that are scraped, by the names of their records.
var processes = []string{"webhook-0", "keeper", "defaultplan-controller"}

// A playground is one that runs.
type playground struct {
	root, dir, token string
	addresses        map[string]string
}

// record starts a playground, makes requests and scrapes until the time is over, and ends it. It
// returns when it began to scrape.
func record(ctx context.Context, root string, lasts time.Duration, data *store) (began time.Time, err error) {
	p := &playground{root: root, dir: filepath.Join(root, ".cache", "dashboard"), addresses: map[string]string{}}
	if err := os.RemoveAll(p.dir); err != nil {
		return began, fmt.Errorf("cannot empty the playground's folder: %w", err)
	}
	if _, err := p.run(ctx, "playground", "up", "--dir="+p.dir, "--bin="+filepath.Join(root, "bin")); err != nil {
		return began, err
	}
	defer func() {
		_, downErr := p.run(context.WithoutCancel(ctx), "playground", "down", "--dir="+p.dir)
		err = errors.Join(err, downErr)
	}()
	if err := p.find(ctx); err != nil {
		return began, err
	}
	requests, stop := context.WithCancel(ctx)
	defer stop()
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		p.request(requests)
	}()
	defer func() { stop(); <-ended }()
	ticks := time.NewTicker(5 * time.Second)
	defer ticks.Stop()
	began = time.Now()
	for end := began.Add(lasts); time.Now().Before(end); {
		if err := p.scrape(ctx, data); err != nil {
			return began, err
		}
		select {
		case <-ctx.Done():
			return began, ctx.Err()
		case <-ticks.C:
		}
	}
	return began, nil
}

// run runs a binary of the repository against the playground, and returns what it prints.
func (p *playground) run(ctx context.Context, name string, args ...string) (string, error) {
	command := exec.CommandContext(ctx, filepath.Join(p.root, "bin", name), args...)
	command.Env = append(os.Environ(), "KUBECONFIG="+filepath.Join(p.dir, "kubeconfig"))
	out, err := command.CombinedOutput()
	if err != nil {
		err = fmt.Errorf("%s %s: %w: %s", name, strings.Join(args, " "), err, out)
	}
	return string(out), err
}

// find finds where the processes serve their metrics, and gets a token to read them.
func (p *playground) find(ctx context.Context) error {
	token, err := p.run(ctx, "kubectl", "create", "token", "metrics-reader", "-n", "defaultplan-system")
	if err != nil {
		return err
	}
	p.token = strings.TrimSpace(token)
	for _, name := range processes {
		content, err := os.ReadFile(filepath.Join(p.dir, "processes", name))
		if err != nil {
			return fmt.Errorf("cannot find process %s: %w", name, err)
		}
		var recorded struct{ Pid int }
		if err := json.Unmarshal(content, &recorded); err != nil {
			return fmt.Errorf("cannot find process %s: %w", name, err)
		}
		arguments, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", recorded.Pid))
		if err != nil {
			return fmt.Errorf("cannot find process %s: %w", name, err)
		}
		for argument := range strings.SplitSeq(string(arguments), "\x00") {
			if address, is := strings.CutPrefix(argument, "--metrics-address="); is {
				p.addresses[name] = address
			}
		}
		if p.addresses[name] == "" {
			return fmt.Errorf("process %s has no --metrics-address", name)
		}
	}
	return nil
}

// scrape scrapes all processes and the API server once.
func (p *playground) scrape(ctx context.Context, data *store) error {
	now := time.Now()
	for name, address := range p.addresses {
		text, err := p.get(ctx, "https://"+address+"/metrics")
		if err != nil {
			return err
		}
		if err := data.add(ctx, now, name, text); err != nil {
			return err
		}
	}
	text, err := p.run(ctx, "kubectl", "get", "--raw", "/metrics")
	if err != nil {
		return err
	}
	return data.add(ctx, now, "apiserver", text)
}

var scraper = &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}} //nolint:gosec // each process makes its certificate itself

func (p *playground) get(ctx context.Context, url string) (string, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, http.NoBody)
	if err != nil {
		return "", err
	}
	request.Header.Set("Authorization", "Bearer "+p.token)
	response, err := scraper.Do(request)
	if err != nil {
		return "", err
	}
	text, err := io.ReadAll(response.Body)
	if err == nil && response.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s answers %d", url, response.StatusCode)
	}
	return string(text), errors.Join(err, response.Body.Close())
}

// requests are made again and again; %d is the round. Some are denied, which is their purpose.
var requests = [][]string{
	{"svcat", "provision", "cache-%d", "--type", "redis"},
	{"svcat", "bind", "cache-%d"},
	{"svcat", "provision", "store-%d", "--class", "azure-mysql", "--plan", "basic50", "-p", "location=westus"},
	{"svcat", "provision", "mydb-%d", "--type", "mysql", "-p", "location=westus"},
	{"svcat", "provision", "none-%d", "--type", "mysqll"},
	{"svcat", "provision", "refused-%d", "--class", "inhouse-mysql", "--plan", "small", "-p", "location=nowhere"},
	{"svcat", "unbind", "cache-%d"},
	{"svcat", "sync", "broker", "inhouse", "--scope", "cluster"},
}

// request makes requests until ctx ends. After a few rounds the type that two brokers suggest
// gets a default, and a broker fails now and then.
func (p *playground) request(ctx context.Context) {
	for round := 0; ctx.Err() == nil; round++ {
		if round == 4 {
			_, _ = p.run(ctx, "svcat", "set", "plan", "azure-mysql/basic50", "--default")
		}
		if round%5 == 3 {
			_, _ = p.run(ctx, "playground", "fault", "inhouse", "provision", "500", "--dir="+p.dir)
		}
		for _, args := range requests {
			filled := make([]string, len(args))
			for i, arg := range args {
				filled[i] = strings.ReplaceAll(arg, "%d", fmt.Sprint(round))
			}
			_, _ = p.run(ctx, filled[0], filled[1:]...)
		}
	}
}
