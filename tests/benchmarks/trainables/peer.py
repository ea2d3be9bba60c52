"""The loop that the tutorials of PyTorch and torchvision teach, for the same network, images and schedule."""

from __future__ import annotations

import time
from typing import Any

import torch
from torch import nn

from setsweep.data.batches import normalise
from setsweep.data.dataset import Dataset
from setsweep.trainables.config.run_config import RunConfig
from setsweep.trainables.models.classifier import build_model


class _Images(torch.utils.data.Dataset[tuple[Any, int]]):
    """What torchvision's CIFAR100 is: an image at a time, as PIL, through the transform."""

    def __init__(self, images: torch.Tensor, labels: torch.Tensor, transform: Any) -> None:
        self.data = images.permute(0, 2, 3, 1).contiguous().numpy()
        self.targets = labels.tolist()
        self.transform = transform

    def __len__(self) -> int:
        return len(self.targets)

    def __getitem__(self, index: int) -> tuple[Any, int]:
        from PIL import Image

        return self.transform(Image.fromarray(self.data[index])), self.targets[index]


def tutorial_run(dataset: Dataset, config: RunConfig, *, workers: int, device: torch.device) -> tuple[float, float]:
    """Top-1 accuracy on validation after the last epoch, and the seconds of training and validation."""
    from torchvision import transforms

    torch.manual_seed(config.seed)
    training = config.training
    mean, std = dataset.mean, dataset.std
    transform = transforms.Compose(
        [
            transforms.RandomCrop(32, padding=training.augment.pad_crop),
            transforms.RandomHorizontalFlip(),
            transforms.ToTensor(),
            transforms.Normalize(mean, std),
        ]
    )
    loader = torch.utils.data.DataLoader(
        _Images(dataset.train.inputs, dataset.train.labels, transform),
        batch_size=int(training.batch_size),
        shuffle=True,
        num_workers=workers,
        pin_memory=device.type == "cuda",
        persistent_workers=workers > 0,
    )
    model = build_model(
        config.model, head="linear", input_shape=(3, 32, 32), num_classes=dataset.num_classes, seed=config.seed
    ).to(device)
    optimizer = torch.optim.SGD(
        model.parameters(),
        lr=training.optimizer.lr,
        momentum=training.optimizer.momentum,
        nesterov=training.optimizer.nesterov,
        weight_decay=training.optimizer.weight_decay,
    )
    schedule = torch.optim.lr_scheduler.MultiStepLR(optimizer, list(training.milestones), training.gamma)
    criterion = nn.CrossEntropyLoss()
    next(iter(loader))  # the workers' start is not part of an epoch
    clock, accuracy = time.perf_counter(), 0.0
    for _ in range(training.epochs):
        model.train()
        for images, labels in loader:
            optimizer.zero_grad()
            criterion(model(images.to(device)), labels.to(device)).backward()
            optimizer.step()
        schedule.step()
        accuracy = _accuracy(model, dataset, device)
    return accuracy, time.perf_counter() - clock


@torch.no_grad()
def _accuracy(model: nn.Module, dataset: Dataset, device: torch.device) -> float:
    model.eval()
    right = 0
    for start in range(0, len(dataset.val), 256):
        rows = slice(start, start + 256)
        scores = model(normalise(dataset.val.inputs[rows].to(device), dataset.mean, dataset.std))
        right += int((scores.argmax(1).cpu() == dataset.val.labels[rows]).sum())
    return right / len(dataset.val)
