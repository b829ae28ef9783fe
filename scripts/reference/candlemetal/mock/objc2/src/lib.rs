//! As much of objc2 as candle uses, without Objective-C: counted references, and
//! one kind of object for all of Metal's protocols.

pub mod rc {
    use std::sync::Arc;
    pub struct Retained<T: ?Sized>(Arc<T>);
    impl<T> Retained<T> {
        pub fn make(t: T) -> Self {
            Retained(Arc::new(t))
        }
    }
    impl<T: ?Sized> Retained<T> {
        pub fn as_ptr(this: &Self) -> *const T {
            Arc::as_ptr(&this.0)
        }
    }
    impl<T: ?Sized> Clone for Retained<T> {
        fn clone(&self) -> Self {
            Retained(self.0.clone())
        }
    }
    impl<T: ?Sized> std::ops::Deref for Retained<T> {
        type Target = T;
        fn deref(&self) -> &T {
            &self.0
        }
    }
    impl<T: ?Sized> std::fmt::Debug for Retained<T> {
        fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
            write!(f, "Retained")
        }
    }
    impl<T: ?Sized + std::fmt::Display> std::fmt::Display for Retained<T> {
        fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
            self.0.fmt(f)
        }
    }
    impl<T: ?Sized> PartialEq for Retained<T> {
        fn eq(&self, o: &Self) -> bool {
            Arc::ptr_eq(&self.0, &o.0)
        }
    }
    impl<T: ?Sized> std::hash::Hash for Retained<T> {
        fn hash<H: std::hash::Hasher>(&self, h: &mut H) {
            (Arc::as_ptr(&self.0) as *const u8 as usize).hash(h)
        }
    }
}
pub mod runtime {
    use std::marker::PhantomData;
    pub struct AnyObject;
    /// What an object is, and what there is to know of it.
    pub enum Kind {
        Device,
        Queue,
        Buffer {
            data: *mut u8,
            len: usize,
        },
        Library(String),
        Function {
            name: String,
            consts: Option<String>,
        },
        Pipeline(String),
        Commands(std::sync::Mutex<Commands>),
        Compute(std::sync::Mutex<Encoding>),
        Blit,
        Fence,
        Residency,
    }
    /// A command buffer: its status in Metal's numbers, whom to call when it is
    /// done, and its copies (addresses and offsets of both sides, length).
    pub struct Commands {
        pub status: usize,
        pub handlers: Vec<Box<dyn Fn()>>,
        pub blits: Vec<(usize, usize, usize, usize, usize)>,
    }
    /// What has been set on a compute encoder since its last dispatch.
    #[derive(Default)]
    pub struct Encoding {
        pub function: String,
        pub args: Vec<String>,
        pub tg: usize,
    }
    /// Any object, seen through protocol P; cb is the command buffer of an encoder.
    #[repr(C)]
    pub struct ProtocolObject<P: ?Sized> {
        pub kind: Kind,
        pub id: usize,
        pub cb: usize,
        p: PhantomData<P>,
    }
    impl<P: ?Sized> ProtocolObject<P> {
        pub fn make(kind: Kind, id: usize) -> crate::rc::Retained<Self> {
            crate::rc::Retained::make(ProtocolObject {
                kind,
                id,
                cb: 0,
                p: PhantomData,
            })
        }
        pub fn make_on(kind: Kind, id: usize, cb: usize) -> crate::rc::Retained<Self> {
            crate::rc::Retained::make(ProtocolObject {
                kind,
                id,
                cb,
                p: PhantomData,
            })
        }
        pub fn from_ref<Q: ?Sized>(q: &ProtocolObject<Q>) -> &ProtocolObject<P> {
            unsafe { &*(q as *const ProtocolObject<Q> as *const ProtocolObject<P>) }
        }
    }
    impl<P: ?Sized> Drop for ProtocolObject<P> {
        fn drop(&mut self) {
            if let Kind::Buffer { data, len } = self.kind {
                unsafe {
                    std::alloc::dealloc(
                        data,
                        std::alloc::Layout::from_size_align(len.max(1), 64).unwrap(),
                    )
                }
            }
        }
    }
}
/// Writes the events to the file that TRACE names, and numbers what is made.
pub mod record {
    use std::io::Write;
    use std::sync::Mutex;
    static OUT: Mutex<Option<std::io::BufWriter<std::fs::File>>> = Mutex::new(None);
    pub fn line(s: &str) {
        let mut o = OUT.lock().unwrap();
        if o.is_none() {
            *o = Some(std::io::BufWriter::new(
                std::fs::File::create(std::env::var("TRACE").unwrap()).unwrap(),
            ));
        }
        writeln!(o.as_mut().unwrap(), "{s}").unwrap();
    }
    pub fn flush() {
        OUT.lock().unwrap().as_mut().unwrap().flush().unwrap();
    }
    pub fn next() -> usize {
        static N: std::sync::atomic::AtomicUsize = std::sync::atomic::AtomicUsize::new(1);
        N.fetch_add(1, std::sync::atomic::Ordering::Relaxed)
    }
    /// The architecture that the device states, from ARCH; none where it is empty.
    pub fn arch() -> Option<String> {
        std::env::var("ARCH").ok().filter(|s| !s.is_empty())
    }
    static ANY: u8 = 0;
    pub fn arch_ptr() -> *const crate::runtime::AnyObject {
        if arch().is_some() {
            &ANY as *const u8 as *const _
        } else {
            std::ptr::null()
        }
    }
}
#[macro_export]
macro_rules! msg_send {
    ($o:expr, $s:ident) => {{
        let _ = &$o;
        $crate::record::arch_ptr()
    }};
}
#[macro_export]
macro_rules! available {
    ($($t:tt)*) => {
        true
    };
}
