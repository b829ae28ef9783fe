//! As much of objc2-metal as candle uses, without Metal: what is asked of it is
//! written down, copies between buffers are done when they are waited for, and no
//! kernel runs.
#![allow(non_snake_case, non_upper_case_globals)]

mod command;
mod device;
pub use command::*;
pub use device::*;

use objc2::rc::Retained;
use objc2::runtime::ProtocolObject;
use objc2_foundation::*;
use std::ffi::c_void;
use std::ptr::NonNull;
use std::sync::Mutex;

#[derive(Clone, Copy, Debug)]
pub struct MTLSize {
    pub width: usize,
    pub height: usize,
    pub depth: usize,
}
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct MTLResourceOptions(pub usize);
impl MTLResourceOptions {
    pub const StorageModeShared: Self = Self(0);
    pub const StorageModePrivate: Self = Self(0x20);
    pub const HazardTrackingModeUntracked: Self = Self(0x100);
}
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MTLCommandBufferStatus(pub usize);
impl MTLCommandBufferStatus {
    pub const NotEnqueued: Self = Self(0);
    pub const Enqueued: Self = Self(1);
    pub const Committed: Self = Self(2);
    pub const Scheduled: Self = Self(3);
    pub const Completed: Self = Self(4);
    pub const Error: Self = Self(5);
}
pub struct MTLDispatchType;
impl MTLDispatchType {
    pub const Concurrent: usize = 1;
}
pub struct MTLBarrierScope;
impl MTLBarrierScope {
    pub const Buffers: usize = 1;
}
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct MTLDataType(pub usize);
impl MTLDataType {
    pub const Float: Self = Self(3);
    pub const UShort: Self = Self(41);
    pub const ULong: Self = Self(85);
    pub const Bool: Self = Self(53);
}
pub struct MTLMathMode;
impl MTLMathMode {
    pub const Fast: usize = 2;
    pub const Relaxed: usize = 1;
}
pub struct MTLMathFloatingPointFunctions;
impl MTLMathFloatingPointFunctions {
    pub const Fast: usize = 0;
    pub const Precise: usize = 1;
}
pub struct MTLCompileOptions;
impl MTLCompileOptions {
    pub fn new() -> Retained<Self> {
        Retained::make(Self)
    }
    pub fn setMathMode(&self, _: usize) {}
    pub fn setMathFloatingPointFunctions(&self, _: usize) {}
    pub fn setFastMathEnabled(&self, _: bool) {}
}
/// The values as they are written down: " 10=1 200=0".
pub struct MTLFunctionConstantValues(pub(crate) Mutex<String>);
impl MTLFunctionConstantValues {
    pub fn new() -> Retained<Self> {
        Retained::make(Self(Mutex::new(String::new())))
    }
    pub unsafe fn setConstantValue_type_atIndex(
        &self,
        v: NonNull<c_void>,
        t: MTLDataType,
        i: usize,
    ) {
        assert!(t == MTLDataType::Bool);
        let b = *(v.as_ptr() as *const u8);
        self.0.lock().unwrap().push_str(&format!(" {i}={b}"));
    }
}
pub struct MTLCaptureDescriptor;
pub struct MTLCaptureDestination;
impl MTLCaptureDestination {
    pub const GPUTraceDocument: usize = 2;
}
impl MTLCaptureDescriptor {
    pub fn new() -> Retained<Self> {
        Retained::make(Self)
    }
    pub fn setDestination(&self, _: usize) {}
    pub fn set_capture_device(&self, _: &ProtocolObject<dyn MTLDevice>) {}
    pub fn setOutputURL(&self, _: Option<&NSURL>) {}
}
pub struct MTLCaptureManager;
impl MTLCaptureManager {
    pub unsafe fn sharedCaptureManager() -> Retained<Self> {
        Retained::make(Self)
    }
    pub fn startCaptureWithDescriptor_error(
        &self,
        _: &MTLCaptureDescriptor,
    ) -> Result<(), Retained<NSError>> {
        Ok(())
    }
}
pub struct MTLResidencySetDescriptor;
impl MTLResidencySetDescriptor {
    pub fn new() -> Retained<Self> {
        Retained::make(Self)
    }
}
pub struct MTLArchitecture;
impl MTLArchitecture {
    pub fn name(&self) -> Retained<NSString> {
        NSString::from_str(&objc2::record::arch().unwrap())
    }
}
