package mapping

import "testing"

func TestMeet(t *testing.T) {
	exports := &Source{Paths: []string{"${ROOT}/**/*.json"}, Exclude: []string{"**/*.traj.json"}}
	if trajectories := (&Source{Paths: []string{"${ROOT}/**/*.traj.json"}}); meet(exports, trajectories) || meet(trajectories, exports) {
		t.Error("a source meets what it excludes")
	}
	for _, tt := range []struct {
		name, a, b string
		want       bool
	}{
		{"the same", "~/.a/x/*.jsonl", "~/.a/x/*.jsonl", true},
		{"one inside the other", "~/.a/**/*.jsonl", "~/.a/x/y.jsonl", true},
		{"other folders", "~/.a/*/x.jsonl", "~/.b/*/x.jsonl", false},
		{"alternatives that are others", "~/{.a,.b}/*.jsonl", "~/{.c,.d}/*.jsonl", false},
		{"one alternative in common", "~/{.a,.b}/*.jsonl", "~/{.c,.b}/*.jsonl", true},
		{"a default", "${A:-~/.a}/*.jsonl", "~/.a/*.jsonl", true},
		{"another variable", "${A}/*.jsonl", "${B}/*.jsonl", false},
		{"exports", "${ROOT}/**/*.json", "${ROOT}/**/conversations.json", true},
		{"exports of another ending", "${ROOT}/**/*.json", "${ROOT}/**/*.traj", false},
		{"a longer ending", "${ROOT}/**/*.json", "${ROOT}/**/*.traj.json", true},
		{"no ending", "~/.a/*", "~/.a/*.json", true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			a, b := &Source{Paths: []string{tt.a}}, &Source{Paths: []string{tt.b}}
			if got, turned := meet(a, b), meet(b, a); got != tt.want || turned != tt.want {
				t.Errorf("got %v and %v, want %v", got, turned, tt.want)
			}
		})
	}
}
