//! Queues, command buffers and encoders.

use crate::*;
use block2::RcBlock;
use objc2::record::{line, next};
use objc2::runtime::{Commands, Encoding, Kind};

pub trait MTLCommandQueue {
    fn commandBuffer(&self) -> Option<Retained<ProtocolObject<dyn MTLCommandBuffer>>>;
    fn addResidencySet(&self, _: &ProtocolObject<dyn MTLResidencySet>) {}
    fn device(&self) -> Dev {
        dev()
    }
    fn setLabel(&self, _: Option<&NSString>) {}
}
struct Ptr(Retained<ProtocolObject<dyn MTLCommandBuffer>>);
unsafe impl Send for Ptr {}
/// The command buffers that are committed and not done, in their order, and those
/// that are not committed.
static COMMITTED: Mutex<Vec<Ptr>> = Mutex::new(Vec::new());
static OPEN: Mutex<Vec<Ptr>> = Mutex::new(Vec::new());
impl MTLCommandQueue for ProtocolObject<dyn MTLCommandQueue> {
    fn commandBuffer(&self) -> Option<Retained<ProtocolObject<dyn MTLCommandBuffer>>> {
        let c = ProtocolObject::make(
            Kind::Commands(Mutex::new(Commands {
                status: 0,
                handlers: vec![],
                blits: vec![],
            })),
            next(),
        );
        OPEN.lock().unwrap().push(Ptr(c.clone()));
        Some(c)
    }
}
impl Ptr {
    fn id(&self) -> usize {
        self.0.id
    }
}
pub trait MTLCommandBuffer {
    fn computeCommandEncoderWithDispatchType(
        &self,
        t: usize,
    ) -> Option<Retained<ProtocolObject<dyn MTLComputeCommandEncoder>>>;
    fn blitCommandEncoder(&self) -> Option<Retained<ProtocolObject<dyn MTLBlitCommandEncoder>>>;
    fn commit(&self);
    fn enqueue(&self) {}
    fn setLabel(&self, _: Option<&NSString>) {}
    fn status(&self) -> MTLCommandBufferStatus;
    fn error(&self) -> Option<Retained<NSError>> {
        None
    }
    fn waitUntilCompleted(&self);
    fn device(&self) -> Dev {
        dev()
    }
    unsafe fn addCompletedHandler(
        &self,
        b: *const RcBlock<NonNull<ProtocolObject<dyn MTLCommandBuffer>>>,
    );
}
fn cb<P: ?Sized>(o: &ProtocolObject<P>) -> std::sync::MutexGuard<'_, Commands> {
    match &o.kind {
        Kind::Commands(m) => m.lock().unwrap(),
        _ => panic!(),
    }
}
impl MTLCommandBuffer for ProtocolObject<dyn MTLCommandBuffer> {
    fn computeCommandEncoderWithDispatchType(
        &self,
        _: usize,
    ) -> Option<Retained<ProtocolObject<dyn MTLComputeCommandEncoder>>> {
        line("encoder compute");
        Some(ProtocolObject::make_on(
            Kind::Compute(Mutex::new(Encoding::default())),
            next(),
            self.id,
        ))
    }
    fn blitCommandEncoder(&self) -> Option<Retained<ProtocolObject<dyn MTLBlitCommandEncoder>>> {
        line("encoder blit");
        Some(ProtocolObject::make_on(Kind::Blit, next(), self.id))
    }
    fn commit(&self) {
        line("commit");
        cb(self).status = 2;
        let mut all = OPEN.lock().unwrap();
        let i = all.iter().position(|c| c.id() == self.id).unwrap();
        let p = all.remove(i);
        COMMITTED.lock().unwrap().push(p);
    }
    fn status(&self) -> MTLCommandBufferStatus {
        MTLCommandBufferStatus(cb(self).status)
    }
    /// Completes all up to this one: copies are done, and handlers called.
    fn waitUntilCompleted(&self) {
        line("wait");
        loop {
            let p = {
                let mut c = COMMITTED.lock().unwrap();
                if c.is_empty() {
                    break;
                }
                c.remove(0)
            };
            let (h, b) = {
                let mut c = cb(&p.0);
                c.status = 4;
                (
                    std::mem::take(&mut c.handlers),
                    std::mem::take(&mut c.blits),
                )
            };
            for (s, so, d, d_o, n) in b {
                unsafe {
                    std::ptr::copy_nonoverlapping((s + so) as *const u8, (d + d_o) as *mut u8, n)
                }
            }
            for f in h {
                f()
            }
            if p.0.id == self.id {
                break;
            }
        }
    }
    unsafe fn addCompletedHandler(
        &self,
        b: *const RcBlock<NonNull<ProtocolObject<dyn MTLCommandBuffer>>>,
    ) {
        let f = (*b).0.clone();
        let p = NonNull::from(self);
        cb(self).handlers.push(Box::new(move || f(p)));
    }
}
pub trait MTLCommandEncoder {
    fn endEncoding(&self) {}
    fn setLabel(&self, _: Option<&NSString>) {}
}
impl MTLCommandEncoder for ProtocolObject<dyn MTLComputeCommandEncoder> {}
impl MTLCommandEncoder for ProtocolObject<dyn MTLBlitCommandEncoder> {}
fn enc<P: ?Sized>(o: &ProtocolObject<P>) -> std::sync::MutexGuard<'_, Encoding> {
    match &o.kind {
        Kind::Compute(m) => m.lock().unwrap(),
        _ => panic!(),
    }
}
pub trait MTLComputeCommandEncoder {
    unsafe fn setThreadgroupMemoryLength_atIndex(&self, n: usize, i: usize);
    fn dispatchThreads_threadsPerThreadgroup(&self, a: MTLSize, b: MTLSize);
    fn dispatchThreadgroups_threadsPerThreadgroup(&self, a: MTLSize, b: MTLSize);
    fn memoryBarrierWithScope(&self, _: usize) {
        line("barrier")
    }
    unsafe fn setBuffer_offset_atIndex(
        &self,
        b: Option<&ProtocolObject<dyn MTLBuffer>>,
        o: usize,
        i: usize,
    );
    unsafe fn setBytes_length_atIndex(&self, p: NonNull<c_void>, n: usize, i: usize);
    fn setComputePipelineState(&self, p: &ProtocolObject<dyn MTLComputePipelineState>);
    fn waitForFence(&self, _: &ProtocolObject<dyn MTLFence>) {}
    fn updateFence(&self, _: &ProtocolObject<dyn MTLFence>) {}
    fn pushDebugGroup(&self, _: &NSString) {}
    fn popDebugGroup(&self) {}
}
fn dispatch(o: &ProtocolObject<dyn MTLComputeCommandEncoder>, how: &str, a: MTLSize, b: MTLSize) {
    let mut e = enc(o);
    line(&format!(
        "run {} {how} {},{},{} {},{},{} {} {}",
        e.function,
        a.width,
        a.height,
        a.depth,
        b.width,
        b.height,
        b.depth,
        e.tg,
        e.args.join(" ")
    ));
    e.args.clear();
    e.tg = 0;
}
impl MTLComputeCommandEncoder for ProtocolObject<dyn MTLComputeCommandEncoder> {
    unsafe fn setThreadgroupMemoryLength_atIndex(&self, n: usize, i: usize) {
        assert!(i == 0);
        enc(self).tg = n
    }
    fn dispatchThreads_threadsPerThreadgroup(&self, a: MTLSize, b: MTLSize) {
        dispatch(self, "threads", a, b)
    }
    fn dispatchThreadgroups_threadsPerThreadgroup(&self, a: MTLSize, b: MTLSize) {
        dispatch(self, "groups", a, b)
    }
    unsafe fn setBuffer_offset_atIndex(
        &self,
        b: Option<&ProtocolObject<dyn MTLBuffer>>,
        o: usize,
        i: usize,
    ) {
        enc(self).args.push(match b {
            Some(b) => format!("{i}=b{}+{o}", b.id),
            None => format!("{i}=nil"),
        })
    }
    unsafe fn setBytes_length_atIndex(&self, p: NonNull<c_void>, n: usize, i: usize) {
        let mut v = std::slice::from_raw_parts(p.as_ptr() as *const u8, n).to_vec();
        if n == 72 {
            v[68..].fill(0)
        }
        let s: String = v.iter().map(|x| format!("{x:02x}")).collect();
        enc(self).args.push(format!("{i}={s}"))
    }
    fn setComputePipelineState(&self, p: &ProtocolObject<dyn MTLComputePipelineState>) {
        if let Kind::Pipeline(n) = &p.kind {
            enc(self).function = n.clone()
        }
    }
}
pub trait MTLBlitCommandEncoder {
    fn waitForFence(&self, _: &ProtocolObject<dyn MTLFence>) {}
    fn updateFence(&self, _: &ProtocolObject<dyn MTLFence>) {}
    unsafe fn copyFromBuffer_sourceOffset_toBuffer_destinationOffset_size(
        &self,
        s: &ProtocolObject<dyn MTLBuffer>,
        so: usize,
        d: &ProtocolObject<dyn MTLBuffer>,
        d_o: usize,
        n: usize,
    );
    fn fillBuffer_range_value(&self, b: &ProtocolObject<dyn MTLBuffer>, r: NSRange, v: u8) {
        line(&format!("fill b{} {} {} {v}", b.id, r.location, r.length))
    }
}
impl MTLBlitCommandEncoder for ProtocolObject<dyn MTLBlitCommandEncoder> {
    unsafe fn copyFromBuffer_sourceOffset_toBuffer_destinationOffset_size(
        &self,
        s: &ProtocolObject<dyn MTLBuffer>,
        so: usize,
        d: &ProtocolObject<dyn MTLBuffer>,
        d_o: usize,
        n: usize,
    ) {
        line(&if so == 0 && d_o == 0 {
            format!("copy b{} b{} {n}", s.id, d.id)
        } else {
            format!("copyat b{}+{so} b{}+{d_o} {n}", s.id, d.id)
        });
        let (sp, dp) = (
            s.contents().as_ptr() as usize,
            d.contents().as_ptr() as usize,
        );
        for c in OPEN.lock().unwrap().iter() {
            if c.id() == self.cb {
                cb(&c.0).blits.push((sp, so, dp, d_o, n))
            }
        }
    }
}
