"""What holds for every loss of the table."""

from __future__ import annotations

import pytest
import torch
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.func import functional_call
from torch.utils._python_dispatch import TorchDispatchMode

from setsweep.losses import LOSSES, build_loss
from setsweep.losses.contract import CHECKS, order_of_the_batch

NAMES = sorted(LOSSES)
EXACT = {"rtol": 1e-9, "atol": 1e-12}
NEEDS_PLAIN_INDICES = {"role"}  # writes its estimates in place, under vmap and compile too
KERNELS = 50  # each takes a GPU some microseconds, on however little
MORE_KERNELS = {"differentiable_topk": 75}  # 5 for each of its network's 10 layers
IN_HALVES = {"conftr"}  # one half of the batch calibrates for the other
LOGARITHM_OF_A_MEAN = {"conftr"}  # which may be below 1
WHOLE_BATCH = {"epr", "role", "conftr"}  # each value has a term of all of them
TAKES_BATCHES = [name for name in NAMES if LOSSES[name].takes_batches]


@pytest.fixture(params=NAMES)
def name(request):
    return request.param


def test_a_loss_is_listed_under_its_own_name_with_a_paper_and_a_purpose(name):
    declaration = LOSSES[name]
    assert declaration.name == name
    assert declaration.paper
    assert declaration.about.endswith(".")


def test_no_value_is_negative_but_logarithms(name, example):
    values = example(name).values()
    if name not in LOGARITHM_OF_A_MEAN:
        assert (values >= 0).all()


@pytest.mark.parametrize("check", CHECKS)
def test_it_keeps_the_contract_that_authors_of_other_losses_are_given(name, check, example):
    if check is order_of_the_batch and name in IN_HALVES:
        pytest.skip("its own test permutes each half")
    check(example(name))


def test_values_depend_on_the_rest_of_the_batch_only_where_that_is_declared(name, example):
    case = example(name)
    together = case.values()
    apart = torch.cat([case.values(rows=slice(row, row + 1)) for row in range(5)])
    row_by_row = torch.allclose(together, apart, rtol=1e-9, atol=1e-12)
    assert row_by_row != (LOSSES[name].takes_batches or LOSSES[name].needs_indices)


@pytest.mark.parametrize("classes", [6, 20])
@pytest.mark.parametrize("name", TAKES_BATCHES)
def test_several_batches_at_once_give_what_each_gives(name, classes):
    loss = build_loss(name, num_classes=classes, k=3)
    generator = torch.Generator().manual_seed(1)
    heads = 2 if LOSSES[name].head == "two_head" else 1
    scores = [torch.randn(40, classes, dtype=torch.float64, generator=generator).requires_grad_() for _ in range(heads)]
    labels = torch.randint(classes, (40,), generator=generator)

    def values(rows, batches):
        given = tuple(each[rows] for each in scores)
        return loss(given if heads == 2 else given[0], labels[rows], batches=batches)

    together = values(slice(None), 4)
    apart = torch.cat([values(slice(start, start + 10), 1) for start in range(0, 40, 10)])
    torch.testing.assert_close(together, apart, rtol=1e-12, atol=0)
    assert not torch.allclose(together, values(slice(None), 1), rtol=1e-12)
    weights = torch.rand(40, dtype=torch.float64, generator=generator)
    gradients = [torch.autograd.grad((each * weights).sum(), scores) for each in (together, apart)]
    torch.testing.assert_close(*gradients, rtol=1e-12, atol=1e-15)


def test_both_ends_of_every_range_are_accepted_and_give_finite_values(name, example):
    for key, hyperparameter in LOSSES[name].hyperparameters.items():
        ends = {end for span in (hyperparameter.search or {}).values() for end in span}
        ends |= {end for end in (hyperparameter.low, hyperparameter.high) if end is not None}
        if isinstance(hyperparameter.default, bool):
            ends = {False, True}
        for end in ends - ({hyperparameter.above} if hyperparameter.above is not None else set()):
            assert example(name, **{key: end}).values().isfinite().all()


def test_values_outside_a_range_are_refused_with_rule_and_value(name, example):
    for key, hyperparameter in LOSSES[name].hyperparameters.items():
        wrong = "yes" if isinstance(hyperparameter.default, bool) else -1.0
        with pytest.raises(ValueError, match=rf"^{key} must be .*, got {wrong!r}\.$"):
            example(name, **{key: wrong})


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float16])
def test_scores_of_ten_thousand_give_finite_values_and_gradients(name, example, dtype):
    case = example(name)
    large = torch.tensor([1e4, -1e4, 1e4, -1e4, 1e4, 1e4, -1e4], dtype=dtype).expand(5, 7).clone()
    scores = [large.clone().requires_grad_() for _ in case.scores]
    case.labels = torch.tensor([0, 1, 2, 3, 4])
    values = case.values(*scores)
    values.mean().backward()
    assert values.dtype == torch.float32
    assert values.isfinite().all()
    assert all(one.grad is None or one.grad.isfinite().all() for one in scores)


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_half_precision_gives_what_the_same_scores_give_in_float32(name, example, dtype):
    half = example(name, dtype=dtype)
    torch.manual_seed(0)
    wide = example(name, dtype=dtype)
    wide.scores = tuple(one.float() for one in half.scores)
    for one, other in zip(half.loss.parameters(), wide.loss.parameters(), strict=True):
        other.data.copy_(one.data)
    assert torch.equal(half.values(), wide.values())


def test_a_nan_score_gives_nan_and_leaves_other_examples_alone(name, example):
    for place in (0, 6):
        case = example(name)
        scores = [one.clone() for one in case.scores]
        for one in scores:
            one[2, place] = torch.nan
        values = case.values(*scores)
        assert values[2].isnan()
        if name not in WHOLE_BATCH:
            assert values[[0, 1, 3, 4]].isfinite().all()


def test_only_role_has_parameters(name, example):
    assert [key for key, _ in example(name).loss.named_parameters()] == (["estimates"] if name == "role" else [])


@pytest.mark.parametrize(("label", "said"), [(7, "got 7"), (-1, "got -1"), (-100, "got -100")])
def test_a_label_out_of_range_is_refused(name, example, label, said):
    case = example(name)
    case.labels[1] = label
    with pytest.raises(ValueError, match=rf"^labels must be between 0 and num_classes - 1 = 6, {said}\.$"):
        case.values()


def test_labels_and_scores_of_wrong_type_or_shape_are_refused(name, example):
    case = example(name)
    labels = case.labels
    for wrong in (labels.int(), labels[:4], labels.unsqueeze(1)):
        case.labels = wrong
        with pytest.raises(ValueError, match=r"^(labels|indices) must .* got .*\.$"):
            case.values()
    case.labels = labels
    with pytest.raises(ValueError, match=r"^scores must be floating point of shape \(batch, classes\), got .*\.$"):
        case.values(*(one.long() for one in case.scores))


def test_soft_labels_are_taken_only_where_declared(name, example):
    case = example(name)
    hard = case.values()
    case.labels = torch.nn.functional.one_hot(case.labels, 7).double()
    if LOSSES[name].soft_labels:
        torch.testing.assert_close(case.values(), hard, **EXACT)
        case.labels = case.labels[:, :6]
        with pytest.raises(ValueError, match=r"^soft labels must have the shape of scores \(5, 7\), got"):
            case.values()
    else:
        with pytest.raises(ValueError, match=r"^(labels|indices) must be int64"):
            case.values()


@pytest.mark.parametrize("k", [0, 7, 8, None, 2.5, True])
def test_a_k_that_leaves_no_class_out_is_refused_where_k_is_needed(name, example, k):
    if LOSSES[name].needs_k:
        with pytest.raises(ValueError, match=rf"^k must be between 1 and num_classes - 1 = 6, got {k}\.$"):
            example(name, k=k)
    else:
        assert example(name, k=k).values().shape == (5,)


def test_what_a_loss_needs_is_asked_for(name):
    declaration = LOSSES[name]
    given = {"k": 2, "class_counts": [1, 2, 3], "num_examples": 4}
    needs = {
        "k": declaration.needs_k,
        "class_counts": declaration.needs_class_counts,
        "num_examples": declaration.needs_indices,
    }
    for key, needed in needs.items():
        rest = {other: value for other, value in given.items() if other != key}
        if needed:
            with pytest.raises(ValueError, match=rf"^{key} must be .*, got None\.$"):
                build_loss(name, num_classes=3, **rest)
        else:
            build_loss(name, num_classes=3, **rest)


def test_vmap_over_several_batches_gives_what_a_loop_gives(name, example):
    if name in NEEDS_PLAIN_INDICES:
        pytest.skip("writes its estimates in place")
    case = example(name)
    stacks = [torch.stack([one, one.flip(0), -one]) for one in case.scores]
    mapped = torch.func.vmap(case.values)(*stacks)
    looped = torch.stack([case.values(*(stack[i] for stack in stacks)) for i in range(3)])
    torch.testing.assert_close(mapped, looped, **EXACT)
    gradients = torch.func.vmap(torch.func.grad(lambda *given: case.values(*given).mean()))(*stacks)
    leaves = [stack.requires_grad_() for stack in stacks]
    sum(case.values(*(leaf[i] for leaf in leaves)).mean() for i in range(3)).backward()
    torch.testing.assert_close(gradients, leaves[0].grad, **EXACT)


def test_it_compiles_without_graph_breaks(name, example):
    if name in NEEDS_PLAIN_INDICES:
        pytest.skip("the gradient of its estimates is sparse")
    case = example(name)
    torch.compiler.reset()
    compiled = torch.compile(case.values, fullgraph=True, backend="aot_eager")
    scores = [one.clone().requires_grad_() for one in case.scores]
    values = compiled(*scores)
    values.mean().backward()
    torch.testing.assert_close(values, case.values(), **EXACT)
    leaves = [one.requires_grad_() for one in case.scores]
    case.values(*leaves).mean().backward()
    for one, other in zip(scores, leaves, strict=True):
        torch.testing.assert_close(one.grad, other.grad, **EXACT)


class Kernels(TorchDispatchMode):
    """Counts the operators called that are more than a look at a tensor."""

    def __init__(self):
        super().__init__()
        self.count = 0

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        self.count += func.namespace == "aten" and not func.is_view
        return func(*args, **(kwargs or {}))


@pytest.mark.skipif(not torch.backends.cuda.is_built(), reason="needs a PyTorch that was built with CUDA")
def test_on_a_gpu_it_never_waits_stays_there_and_takes_few_kernels(name):
    batch, classes, declaration = 64, 100, LOSSES[name]
    loss = build_loss(name, num_classes=classes, k=5, class_counts=[9] * classes, num_examples=batch)
    with FakeTensorMode(), Kernels() as kernels:  # shapes and devices, without a GPU; reading a value raises

        def on_gpu(*shape, dtype=torch.float32, needs_grad=False):
            return torch.empty(shape, dtype=dtype, device="cuda", requires_grad=needs_grad)

        state = {
            key: on_gpu(*value.shape, dtype=value.dtype, needs_grad=value.requires_grad)
            for key, value in [*loss.named_parameters(), *loss.named_buffers()]
        }
        scores = [on_gpu(batch, classes, needs_grad=True) for _ in range(2)]
        labels = on_gpu(batch, dtype=torch.int64)
        given = tuple(scores) if declaration.head == "two_head" else scores[0]
        extra = {"indices": labels} if declaration.needs_indices else {}
        kernels.count = 0
        values = functional_call(loss, state, (given, labels), extra)
    assert values.shape == (batch,)
    assert values.device.type == "cuda"
    assert kernels.count <= MORE_KERNELS.get(name, KERNELS)


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device")
def test_cuda_gives_what_the_cpu_gives(name, example):
    cpu, cuda = example(name), example(name, device="cuda")
    cuda.loss.load_state_dict(cpu.loss.state_dict())
    results = []
    for case in (cpu, cuda):
        scores = [one.requires_grad_() for one in case.scores]
        values = case.values(*scores)
        values.mean().backward()
        results.append([values, *(one.grad for one in scores)])
    for one, other in zip(*results, strict=True):
        torch.testing.assert_close(one, other.cpu(), rtol=1e-6, atol=1e-9)
