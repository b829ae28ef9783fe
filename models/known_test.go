package models

import "testing"

func TestIsExperiment(t *testing.T) {
	for _, name := range []string{StandIn, Source, Experiment} {
		if !IsExperiment(name, "") {
			t.Errorf("%s is not taken for the experiment's model", name)
		}
	}
	if !IsExperiment("mine.gguf", "Smollm2 135M 8k Lc100K Mix1 Ep2") {
		t.Error("another file of the experiment's model is not known by its general.name")
	}
	for _, name := range []string{Gemma, "gemma3-270m", "mine.gguf"} {
		if IsExperiment(name, "Gemma 3 270m") {
			t.Errorf("%s is taken for the experiment's model", name)
		}
	}
}
