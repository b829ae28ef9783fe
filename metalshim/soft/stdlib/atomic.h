// <metal_atomic>. Address spaces are gone by the time this is read, so one
// overload serves device and threadgroup memory.
namespace metal {
enum memory_order { memory_order_relaxed = 0, memory_order_seq_cst = 5 };
enum thread_scope { thread_scope_thread, thread_scope_simdgroup, thread_scope_threadgroup, thread_scope_device };
enum class mem_flags { mem_none = 0, mem_device = 1, mem_threadgroup = 2, mem_texture = 4, mem_threadgroup_imageblock = 8, mem_object_data = 16 };
MSL_FN constexpr mem_flags operator|(mem_flags a, mem_flags b) { return mem_flags(int(a) | int(b)); }
MSL_FN constexpr mem_flags operator&(mem_flags a, mem_flags b) { return mem_flags(int(a) & int(b)); }

template <class T> struct atomic { T v; };
typedef atomic<int> atomic_int;
typedef atomic<uint> atomic_uint;
typedef atomic<bool> atomic_bool;
typedef atomic<float> atomic_float;
typedef atomic<long> atomic_long;
typedef atomic<ulong> atomic_ulong;

template <class T> struct msl_same { typedef T type; };
template <class T> using msl_same_t = typename msl_same<T>::type; // not deduced

template <class T> MSL_FN T atomic_load_explicit(const volatile atomic<T>* a, memory_order) { return __atomic_load_n(&a->v, __ATOMIC_RELAXED); }
template <> MSL_FN float atomic_load_explicit(const volatile atomic<float>* a, memory_order) {
  return as_type<float>(__atomic_load_n((const volatile uint*)&a->v, __ATOMIC_RELAXED));
}
template <class T> MSL_FN void atomic_store_explicit(volatile atomic<T>* a, msl_same_t<T> v, memory_order) { __atomic_store_n(&a->v, v, __ATOMIC_RELAXED); }
template <> MSL_FN void atomic_store_explicit(volatile atomic<float>* a, float v, memory_order) {
  __atomic_store_n((volatile uint*)&a->v, as_type<uint>(v), __ATOMIC_RELAXED);
}
template <class T> MSL_FN T atomic_exchange_explicit(volatile atomic<T>* a, msl_same_t<T> v, memory_order) { return __atomic_exchange_n(&a->v, v, __ATOMIC_RELAXED); }
template <> MSL_FN float atomic_exchange_explicit(volatile atomic<float>* a, float v, memory_order) {
  return as_type<float>(__atomic_exchange_n((volatile uint*)&a->v, as_type<uint>(v), __ATOMIC_RELAXED));
}
template <class T> MSL_FN bool atomic_compare_exchange_weak_explicit(volatile atomic<T>* a, T* expected, msl_same_t<T> v, memory_order, memory_order) {
  T old = *expected;
  bool done = __atomic_compare_exchange_n(&a->v, &old, v, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
  *expected = old;
  return done;
}
template <> MSL_FN bool atomic_compare_exchange_weak_explicit(volatile atomic<float>* a, float* expected, float v, memory_order, memory_order) {
  uint old = as_type<uint>(*expected);
  bool done = __atomic_compare_exchange_n((volatile uint*)&a->v, &old, as_type<uint>(v), true, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
  *expected = as_type<float>(old);
  return done;
}
#define MSL_FETCH(name) \
  template <class T> MSL_FN T atomic_fetch_##name##_explicit(volatile atomic<T>* a, msl_same_t<T> v, memory_order) { \
    return __atomic_fetch_##name(&a->v, v, __ATOMIC_RELAXED); \
  }
MSL_FETCH(add)
MSL_FETCH(sub)
MSL_FETCH(and)
MSL_FETCH(or)
MSL_FETCH(xor)
MSL_FETCH(min)
MSL_FETCH(max)
// 64-bit minimum and maximum without a result.
MSL_FN void atomic_min_explicit(volatile atomic<ulong>* a, ulong v, memory_order) { __atomic_fetch_min(&a->v, v, __ATOMIC_RELAXED); }
MSL_FN void atomic_max_explicit(volatile atomic<ulong>* a, ulong v, memory_order) { __atomic_fetch_max(&a->v, v, __ATOMIC_RELAXED); }
MSL_FN void atomic_thread_fence(mem_flags, memory_order, thread_scope = thread_scope_device) { __atomic_thread_fence(__ATOMIC_SEQ_CST); }
} // namespace metal
