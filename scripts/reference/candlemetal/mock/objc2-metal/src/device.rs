//! Devices, buffers, libraries and pipelines.

use crate::*;
use objc2::record::{line, next};
use objc2::runtime::Kind;

pub trait MTLAllocation {}
pub trait MTLResource {
    fn setLabel(&self, _: Option<&NSString>) {}
}
pub trait MTLBuffer {
    fn contents(&self) -> NonNull<c_void>;
    fn length(&self) -> usize;
    fn didModifyRange(&self, _: NSRange) {}
}
impl MTLResource for ProtocolObject<dyn MTLBuffer> {}
impl MTLBuffer for ProtocolObject<dyn MTLBuffer> {
    fn contents(&self) -> NonNull<c_void> {
        match &self.kind {
            Kind::Buffer { data, .. } => NonNull::new(*data as *mut c_void).unwrap(),
            _ => panic!(),
        }
    }
    fn length(&self) -> usize {
        match &self.kind {
            Kind::Buffer { len, .. } => *len,
            _ => panic!(),
        }
    }
}
pub trait MTLFence {}
pub trait MTLFunction {}
pub trait MTLLibrary {
    fn newFunctionWithName(
        &self,
        n: &NSString,
    ) -> Option<Retained<ProtocolObject<dyn MTLFunction>>>;
    fn newFunctionWithName_constantValues_error(
        &self,
        n: &NSString,
        c: &MTLFunctionConstantValues,
    ) -> Result<Retained<ProtocolObject<dyn MTLFunction>>, Retained<NSError>>;
}
impl MTLLibrary for ProtocolObject<dyn MTLLibrary> {
    fn newFunctionWithName(
        &self,
        n: &NSString,
    ) -> Option<Retained<ProtocolObject<dyn MTLFunction>>> {
        Some(ProtocolObject::make(
            Kind::Function {
                name: n.0.clone(),
                consts: None,
            },
            next(),
        ))
    }
    fn newFunctionWithName_constantValues_error(
        &self,
        n: &NSString,
        c: &MTLFunctionConstantValues,
    ) -> Result<Retained<ProtocolObject<dyn MTLFunction>>, Retained<NSError>> {
        Ok(ProtocolObject::make(
            Kind::Function {
                name: n.0.clone(),
                consts: Some(c.0.lock().unwrap().clone()),
            },
            next(),
        ))
    }
}
pub trait MTLComputePipelineState {
    fn maxTotalThreadsPerThreadgroup(&self) -> usize;
}
impl MTLComputePipelineState for ProtocolObject<dyn MTLComputePipelineState> {
    fn maxTotalThreadsPerThreadgroup(&self) -> usize {
        1024
    }
}
pub trait MTLResidencySet {
    fn requestResidency(&self) {}
    fn commit(&self) {}
    fn addAllocation(&self, _: &ProtocolObject<dyn MTLAllocation>) {}
    fn removeAllocation(&self, _: &ProtocolObject<dyn MTLAllocation>) {}
}
impl MTLResidencySet for ProtocolObject<dyn MTLResidencySet> {}

pub(crate) type Dev = Retained<ProtocolObject<dyn MTLDevice>>;
pub(crate) fn dev() -> Dev {
    ProtocolObject::make(Kind::Device, 0)
}
pub fn MTLCopyAllDevices() -> Vec<Dev> {
    vec![dev()]
}
pub fn MTLCreateSystemDefaultDevice() -> Option<Dev> {
    Some(dev())
}
fn buffer(len: usize) -> Retained<ProtocolObject<dyn MTLBuffer>> {
    let data = unsafe {
        std::alloc::alloc_zeroed(std::alloc::Layout::from_size_align(len.max(1), 64).unwrap())
    };
    ProtocolObject::make(Kind::Buffer { data, len }, next())
}
pub trait MTLDevice {
    fn registryID(&self) -> u64 {
        1
    }
    fn recommendedMaxWorkingSetSize(&self) -> u64 {
        1 << 40
    }
    fn currentAllocatedSize(&self) -> usize {
        0
    }
    fn architecture(&self) -> Retained<MTLArchitecture> {
        Retained::make(MTLArchitecture)
    }
    fn newBufferWithLength_options(
        &self,
        n: usize,
        o: MTLResourceOptions,
    ) -> Option<Retained<ProtocolObject<dyn MTLBuffer>>> {
        let b = buffer(n);
        line(&format!(
            "new b{} {n} {}",
            b.id,
            if o.0 & 0x20 != 0 { "private" } else { "shared" }
        ));
        Some(b)
    }
    unsafe fn newBufferWithBytes_length_options(
        &self,
        p: NonNull<c_void>,
        n: usize,
        _: MTLResourceOptions,
    ) -> Option<Retained<ProtocolObject<dyn MTLBuffer>>> {
        let b = buffer(n);
        if let Kind::Buffer { data, .. } = b.kind {
            std::ptr::copy_nonoverlapping(p.as_ptr() as *const u8, data, n)
        }
        line(&format!("upload b{} {n}", b.id));
        Some(b)
    }
    fn newLibraryWithSource_options_error(
        &self,
        s: &NSString,
        _: Option<&MTLCompileOptions>,
    ) -> Result<Retained<ProtocolObject<dyn MTLLibrary>>, Retained<NSError>> {
        let dir = std::env::var("METAL_SRC").unwrap();
        for (f, l) in [
            ("affine", "Affine"),
            ("binary", "Binary"),
            ("cast", "Cast"),
            ("mlx_gemm", "Gemm"),
            ("gemv", "Gemv"),
            ("indexing", "Indexing"),
            ("quantized", "Quantized"),
            ("reduce", "Reduce"),
            ("scaled_dot_product_attention", "Sdpa"),
            ("ternary", "Ternary"),
            ("unary", "Unary"),
            ("fill", "Fill"),
        ] {
            let t = std::fs::read_to_string(format!("{dir}/{f}.metal")).unwrap();
            if s.0.ends_with(&t) {
                line(&format!("lib {l}"));
                return Ok(ProtocolObject::make(Kind::Library(l.to_string()), next()));
            }
        }
        panic!("library not known")
    }
    fn newComputePipelineStateWithFunction_error(
        &self,
        f: &ProtocolObject<dyn MTLFunction>,
    ) -> Result<Retained<ProtocolObject<dyn MTLComputePipelineState>>, Retained<NSError>> {
        match &f.kind {
            Kind::Function { name, consts } => {
                line(&format!(
                    "pipe {name}{}",
                    consts.clone().unwrap_or_default()
                ));
                Ok(ProtocolObject::make(Kind::Pipeline(name.clone()), next()))
            }
            _ => panic!(),
        }
    }
    fn newCommandQueue(&self) -> Option<Retained<ProtocolObject<dyn MTLCommandQueue>>> {
        Some(ProtocolObject::make(Kind::Queue, next()))
    }
    fn newFence(&self) -> Option<Retained<ProtocolObject<dyn MTLFence>>> {
        Some(ProtocolObject::make(Kind::Fence, next()))
    }
    fn newResidencySetWithDescriptor_error(
        &self,
        _: &MTLResidencySetDescriptor,
    ) -> Result<Retained<ProtocolObject<dyn MTLResidencySet>>, Retained<NSError>> {
        Ok(ProtocolObject::make(Kind::Residency, next()))
    }
}
impl MTLDevice for ProtocolObject<dyn MTLDevice> {}
