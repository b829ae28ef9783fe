// What metal-cpp links to, no program here calls, and the SDK does not have.
void *MTLCopyAllDevicesWithObserver(void) { return 0; }
void MTLRemoveDeviceObserver(void) {}
