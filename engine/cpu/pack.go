package cpu

// maybePack packs the weights where the options ask for it.
func (e *Engine) maybePack() error {
	e.desc.Why = "weights read where the file is mapped"
	return nil
}
