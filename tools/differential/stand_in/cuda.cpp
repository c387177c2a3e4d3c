// A CUDA device without memory, for a PyTorch that is built without CUDA.
//
// A tensor here says that it is on cuda:0, so that everything above the kernels does what it does
// there: autocast, the autograd engine with its thread for the device, sums of gradients in place,
// the choice of kernels. What a kernel returns comes from the same kernel on the meta device, whose
// tensors have sizes and strides but no bytes. Neither has a storage here; it only has a size.
//
// Loaded by load.py into the interpreter, once.

// clang-format off: PyTorch's headers want this order.
#include <torch/library.h>
#include <ATen/SDPBackend.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/core/stack.h>
#include <ATen/native/transformers/attention.h>
#include <ATen/ops/empty.h>
#include <c10/core/TensorImpl.h>
#include <c10/core/impl/DeviceGuardImplInterface.h>
#include <c10/core/impl/LocalDispatchKeySet.h>
// clang-format on

#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace {

using c10::DeviceType;
using c10::DispatchKey;
using c10::IValue;

const c10::Device kCuda(DeviceType::CUDA, 0);

struct NoMemory final : c10::Allocator {
  explicit NoMemory(c10::Device device) : device_(device) {}
  c10::DataPtr allocate(size_t /*bytes*/) override {
    return {nullptr, nullptr, &c10::detail::deleteNothing, device_};
  }
  void copy_data(void* /*to*/, const void* /*from*/, size_t /*bytes*/) const override {}

  c10::Device device_;
};

// One device with one stream; nothing is ever in flight.
struct OneDevice final : c10::impl::DeviceGuardImplInterface {
  DeviceType type() const override { return DeviceType::CUDA; }
  c10::Device exchangeDevice(c10::Device /*device*/) const override { return kCuda; }
  c10::Device getDevice() const override { return kCuda; }
  void setDevice(c10::Device /*device*/) const override {}
  void uncheckedSetDevice(c10::Device /*device*/) const noexcept override {}
  c10::DeviceIndex deviceCount() const noexcept override { return 1; }
  c10::Stream getStream(c10::Device /*device*/) const noexcept override { return stream(); }
  c10::Stream getDefaultStream(c10::Device /*device*/) const override { return stream(); }
  c10::Stream exchangeStream(c10::Stream /*stream*/) const noexcept override { return stream(); }
  bool queryEvent(void* /*event*/) const override { return true; }
  bool queryStream(const c10::Stream& /*stream*/) const override { return true; }
  void record(void** /*event*/, const c10::Stream& /*stream*/, c10::DeviceIndex /*device*/,
              c10::EventFlag /*flag*/) const override {}
  void block(void* /*event*/, const c10::Stream& /*stream*/) const override {}

 private:
  static c10::Stream stream() { return c10::Stream(c10::Stream::DEFAULT, kCuda); }
};

NoMemory cuda_memory(kCuda);
NoMemory meta_memory(c10::Device(DeviceType::Meta));

c10::Storage new_storage(size_t bytes, NoMemory& memory) {
  return {c10::Storage::use_byte_size_t(), bytes, memory.allocate(bytes), &memory,
          /*resizable=*/true};
}

at::Tensor tensor_like(const at::Tensor& other, c10::Storage storage, DispatchKey key) {
  at::Tensor made = at::detail::make_tensor<c10::TensorImpl>(
      std::move(storage), c10::DispatchKeySet(key), other.dtype());
  made.unsafeGetTensorImpl()->set_sizes_and_strides(other.sizes(), other.strides(),
                                                    other.storage_offset());
  return made;
}

// The arguments of one call on the meta device, and the way back.
class Call {
 public:
  IValue to_meta(const IValue& value) {
    if (value.isTensor()) {
      const at::Tensor& tensor = value.toTensor();
      return tensor.defined() && tensor.is_cuda() ? twin(tensor) : value;
    }
    if (value.isDevice()) {
      return value.toDevice().is_cuda() ? c10::Device(DeviceType::Meta) : value.toDevice();
    }
    if (value.isTensorList()) {
      c10::List<at::Tensor> twins;
      for (const at::Tensor& tensor : value.toTensorVector()) {
        twins.push_back(to_meta(tensor).toTensor());
      }
      return twins;
    }
    if (value.isOptionalTensorList()) {
      c10::List<std::optional<at::Tensor>> twins;
      for (const std::optional<at::Tensor>& tensor : value.toOptionalTensorVector()) {
        twins.push_back(tensor.has_value() ? std::optional<at::Tensor>(to_meta(*tensor).toTensor())
                                           : std::nullopt);
      }
      return twins;
    }
    return value;
  }

  IValue to_cuda(const IValue& value) {
    if (value.isTensor()) {
      const at::Tensor& tensor = value.toTensor();
      return tensor.defined() && tensor.is_meta() ? original(tensor) : value;
    }
    if (value.isTensorList()) {
      c10::List<at::Tensor> tensors;
      for (const at::Tensor& tensor : value.toTensorVector()) {
        tensors.push_back(to_cuda(tensor).toTensor());
      }
      return tensors;
    }
    return value;
  }

  // Kernels that write may resize what they write to.
  void resize_originals() {
    for (const auto& [meta, cuda] : pairs_) {
      c10::TensorImpl* impl = cuda.unsafeGetTensorImpl();
      if (impl->sizes() != meta.sizes() || impl->strides() != meta.strides()) {
        impl->set_sizes_and_strides(meta.sizes(), meta.strides(), meta.storage_offset());
      }
      if (cuda.storage().nbytes() != meta.storage().nbytes()) {
        cuda.storage().set_nbytes(meta.storage().nbytes());
      }
    }
  }

 private:
  at::Tensor twin(const at::Tensor& cuda) {
    for (const auto& [meta, original] : pairs_) {
      if (original.is_same(cuda)) return meta;
    }
    c10::StorageImpl* storage = cuda.storage().unsafeGetStorageImpl();
    auto [place, fresh] = meta_storages_.try_emplace(storage);
    if (fresh) {
      place->second = new_storage(cuda.storage().nbytes(), meta_memory);
      cuda_storages_.emplace(place->second.unsafeGetStorageImpl(), cuda.storage());
    }
    at::Tensor meta = tensor_like(cuda, place->second, DispatchKey::Meta);
    pairs_.emplace_back(meta, cuda);
    return meta;
  }

  at::Tensor original(const at::Tensor& meta) {
    for (const auto& [twin, cuda] : pairs_) {
      if (twin.is_same(meta)) return cuda;
    }
    c10::StorageImpl* storage = meta.storage().unsafeGetStorageImpl();
    auto [place, fresh] = cuda_storages_.try_emplace(storage);
    if (fresh) place->second = new_storage(meta.storage().nbytes(), cuda_memory);
    return tensor_like(meta, place->second, DispatchKey::CUDA);
  }

  std::vector<std::pair<at::Tensor, at::Tensor>> pairs_;  // meta, CUDA
  std::unordered_map<c10::StorageImpl*, c10::Storage> meta_storages_;
  std::unordered_map<c10::StorageImpl*, c10::Storage> cuda_storages_;
};

// Without dropout and outside of a graph's capture CUDA's kernel returns the seed and its offset on
// the host (2.6: aten/src/ATen/native/transformers/cuda/flash_attn/flash_api.cpp, mha_fwd).
void seeds_on_host(const std::string& name, torch::jit::Stack& stack) {
  const bool outer = name == "aten::_scaled_dot_product_flash_attention";
  if (!outer && name != "aten::_flash_attention_forward") return;
  const size_t first = stack.size() - 3;  // seed, offset, debug mask are the last
  for (size_t i = first; i < first + 2; ++i) {
    stack[i] = at::empty({}, at::dtype(at::kLong).device(at::kCPU));
  }
}

void run_on_meta(const c10::OperatorHandle& op, torch::jit::Stack* stack) {
  const at::AutoDispatchBelowADInplaceOrView below_autograd;
  const size_t count = op.schema().arguments().size();
  const size_t first = stack->size() - count;
  Call call;
  for (size_t i = first; i < stack->size(); ++i) (*stack)[i] = call.to_meta((*stack)[i]);
  op.callBoxed(stack);
  call.resize_originals();
  const size_t results = op.schema().returns().size();
  for (size_t i = stack->size() - results; i < stack->size(); ++i) {
    (*stack)[i] = call.to_cuda((*stack)[i]);
  }
  seeds_on_host(op.operator_name().name, *stack);
}

// Of the fused attentions flash is the one that is held here.
int64_t choose_flash(const at::Tensor& /*query*/, const at::Tensor& /*key*/,
                     const at::Tensor& /*value*/, const std::optional<at::Tensor>& /*mask*/,
                     double /*dropout*/, bool /*causal*/, std::optional<double> /*scale*/,
                     bool /*grouped*/) {
  return static_cast<int64_t>(at::SDPBackend::flash_attention);
}

const bool chosen = [] {
  at::native::_fused_sdp_choice_stub.set_cuda_dispatch_ptr(&choose_flash);
  return true;
}();

}  // namespace

C10_REGISTER_GUARD_IMPL(CUDA, OneDevice);

TORCH_LIBRARY_IMPL(_, CUDA, library) {
  library.fallback(torch::CppFunction::makeFromBoxedFunction<&run_on_meta>());
}

// Where CUDA has a kernel of its own beside one for every device, the latter would be taken without
// these: copy_ reads bytes, the others are made of several kernels.
TORCH_LIBRARY_IMPL(aten, CUDA, library) {
  for (const char* name : {"copy_", "native_layer_norm", "silu_backward"}) {
    library.impl(name, torch::CppFunction::makeFromBoxedFunction<&run_on_meta>());
  }
}
