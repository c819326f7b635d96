package main

import (
	"embed"
	"errors"
	"fmt"
	"path"
	"slices"
	"sort"
	"strings"

	"sigs.k8s.io/yaml"
)

// Names for --story.
const (
	mainStory  = "main"
	allStories = "all"
)

// A Story is told on a stack of its own.
type Story struct {
	// Name is what --story calls it: its file under stories/ without .yaml.
	Name string `json:"-"`
	// Title is its heading.
	Title string `json:"title"`
	// WebhookArgs are flags of the webhook for this story.
	WebhookArgs []string `json:"webhookArgs,omitempty"`
	// Registers says that the story itself registers the brokers, from NAME.yaml and
	// NAME.env of each. Else they are registered before it begins.
	Registers bool `json:"registers,omitempty"`
	// Controllers are the names of controllers beside the one without a name.
	Controllers []string `json:"controllers,omitempty"`
	// Steps are told in order.
	Steps []Step `json:"steps"`
}

// A Step is something to be seen, and the commands that show it.
type Step struct {
	// Heading and Says tell what is to be seen.
	Heading string `json:"heading"`
	Says    string `json:"says"`
	// Files are the manifests that the commands of this step, and later ones,
	// find in their folder.
	Files []string `json:"files,omitempty"`
	// Commands are run in order.
	Commands []Command `json:"commands"`
}

// A Command is a line for the shell and how it must end.
type Command struct {
	Run string `json:"run"`
	// Exit is the exit code that the story is about.
	Exit int `json:"exit,omitempty"`
	// Expect are texts that its output must have, Reject those that it must not.
	Expect []string `json:"expect,omitempty"`
	Reject []string `json:"reject,omitempty"`
}

//go:embed stories/*.yaml
var stories embed.FS

// storyNames are all of them, the main one first, then by name.
func storyNames() ([]string, error) {
	entries, err := stories.ReadDir("stories")
	if err != nil {
		return nil, fmt.Errorf("cannot list stories: %w", err)
	}
	var names []string
	for _, entry := range entries {
		names = append(names, strings.TrimSuffix(entry.Name(), ".yaml"))
	}
	sort.Slice(names, func(i, j int) bool {
		if (names[i] == mainStory) != (names[j] == mainStory) {
			return names[i] == mainStory
		}
		return names[i] < names[j]
	})
	return names, nil
}

// chooseStories reads the stories that a value of --story means; an empty one
// means the main one.
func chooseStories(value string) ([]Story, error) {
	names, err := storyNames()
	if err != nil {
		return nil, err
	}
	chosen := []string{value}
	switch {
	case value == "":
		chosen = []string{mainStory}
	case value == allStories:
		chosen = names
	case !slices.Contains(names, value):
		return nil, fmt.Errorf("cannot find story %q: there are %s, or %s", value, strings.Join(names, ", "), allStories)
	}
	var found []Story
	for _, name := range chosen {
		story, err := readStory(name)
		if err != nil {
			return nil, err
		}
		found = append(found, story)
	}
	return found, nil
}

func readStory(name string) (Story, error) {
	content, err := stories.ReadFile(path.Join("stories", name+".yaml"))
	if err != nil {
		return Story{}, fmt.Errorf("cannot read story %q: %w", name, err)
	}
	story := Story{Name: name}
	if err := yaml.UnmarshalStrict(content, &story); err != nil {
		return Story{}, fmt.Errorf("cannot read story %q: %w", name, err)
	}
	if err := story.validate(); err != nil {
		return Story{}, fmt.Errorf("cannot tell story %q: %w", name, err)
	}
	return story, nil
}

// validate says what a story lacks to be told and to be able to fail.
func (s Story) validate() error {
	var failures []error
	if s.Title == "" || len(s.Steps) == 0 {
		failures = append(failures, errors.New("it needs a title and steps"))
	}
	for _, step := range s.Steps {
		if step.Heading == "" || step.Says == "" || len(step.Commands) == 0 {
			failures = append(failures, fmt.Errorf("step %q needs a heading, says and commands", step.Heading))
		}
		for _, file := range step.Files {
			_, err := readManifest(file)
			failures = append(failures, err)
		}
		for _, command := range step.Commands {
			if command.Run == "" || len(command.Expect) == 0 {
				failures = append(failures, fmt.Errorf("a command of step %q needs run and expect", step.Heading))
			}
		}
	}
	return errors.Join(failures...)
}
