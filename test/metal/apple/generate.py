"""Writes include/{Foundation,Metal,Vision}/*.h: Apple's interfaces, as far as the host uses them, for clang on Linux.

They come from the crates objc2-metal, objc2-foundation and objc2-vision 0.3.2 (Zlib, Apache-2.0 or MIT), which objc2's
header-translator made from Apple's SDK. In a folder with these in its Cargo.toml:
    cargo vendor && python3 generate.py vendor
A type that the host begins to use is added to TYPES; a member whose types are not all there is left out.
The crates do not say since when something exists: NEWER does, for what came after macOS 14.
"""

import pathlib
import re
import sys

TYPES = {
    "Foundation": """NSString NSError NSURL NSData NSNumber NSArray NSDictionary NSProcessInfo NSCharacterSet""",
    "Metal": """MTLDevice MTLAllocation MTLResource MTLBuffer MTLHeap MTLHeapDescriptor MTLLibrary MTLFunction
        MTLCompileOptions MTLFunctionConstantValues MTLComputePipelineState MTLComputePipelineDescriptor
        MTLBinaryArchive MTLBinaryArchiveDescriptor MTLCommandQueue MTLCommandBuffer MTLCommandEncoder
        MTLComputeCommandEncoder MTLBlitCommandEncoder MTLComputePassDescriptor MTLFence MTLEvent MTLSharedEvent
        MTLComputePassSampleBufferAttachmentDescriptor MTLComputePassSampleBufferAttachmentDescriptorArray
        MTLCounterSet MTLCounterSampleBuffer MTLCounterSampleBufferDescriptor MTLResidencySet
        MTLResidencySetDescriptor MTLCaptureManager MTLCaptureDescriptor MTLComputePipelineReflection
        MTLSize MTLSizeAndAlign MTLCounterResultTimestamp
        MTLGPUFamily MTLResourceOptions MTLStorageMode MTLCPUCacheMode MTLHazardTrackingMode MTLHeapType
        MTLBarrierScope MTLDispatchType MTLDataType MTLCommandBufferStatus MTLLanguageVersion MTLPipelineOption
        MTLCounterSamplingPoint MTLCaptureDestination MTLMathMode MTLMathFloatingPointFunctions
        MTLLibraryOptimizationLevel MTLCompileSymbolVisibility MTLShaderValidation MTLPurgeableState""",
    "Vision": """VNRequest VNImageBasedRequest VNRecognizeTextRequest VNImageRequestHandler VNObservation
        VNDetectedObjectObservation VNRectangleObservation VNRecognizedTextObservation VNRecognizedText
        VNRequestTextRecognitionLevel""",
}
CRATES = {"Foundation": "objc2-foundation", "Metal": "objc2-metal", "Vision": "objc2-vision"}

# Regular expressions over "Type", "Type selector" and "Constant".
NEWER = {
    15: r"""MTLResidencySet\w*|MTLAllocation|\w+ newResidencySetWithDescriptor:error:
        |MTLCommandQueue (add|remove)ResidencySets?:.*|MTLCommandBuffer useResidencySets?:.*
        |MTLMathMode|MTLMathFloatingPointFunctions|MTLShaderValidation
        |MTLCompileOptions (setM|m)ath(Mode|FloatingPointFunctions):?|MTLCompileOptions (setE|e)nableLogging:?
        |MTLComputePipeline\w+ (setS|s)haderValidation:?|MTLLanguageVersion3_2""",
    26: r"""MTLLanguageVersion4_0|MTLGPUFamilyApple10|MTLGPUFamilyMetal4
        |\w+ (setR|r)equiredThreadsPerThreadgroup:?|MTLCounterSampleBufferDescriptor4.*""",
}

# Where Objective-C has C types that Rust writes as opaque references.
OPAQUE = {"CGImage": "CGImageRef", "CGRect": "CGRect", "CGPoint": "CGPoint", "CGFloat": "CGFloat"}
SCALARS = {
    "NSUInteger": "NSUInteger", "NSInteger": "NSInteger", "NSTimeInterval": "double", "CFTimeInterval": "double",
    "bool": "BOOL", "()": "void", "usize": "size_t", "unichar": "unichar", "NSRange": "NSRange", "c_void": "void",
    "c_char": "char", "u8": "uint8_t", "u32": "uint32_t", "i32": "int32_t", "u64": "uint64_t", "c_int": "int",
    "c_uint": "unsigned int", "c_long": "long", "c_ulong": "unsigned long", "c_longlong": "long long",
    "c_ulonglong": "unsigned long long", "c_float": "float", "c_double": "double", "f32": "float", "f64": "double",
    "VNConfidence": "float", "MTLTimestamp": "uint64_t", "NSStringEncoding": "NSUInteger",
}  # fmt: skip


class Untranslatable(Exception):
    """A type outside of TYPES."""


def closing(text: str, start: int) -> int:
    """The index of the bracket that closes the one at `start`."""
    pair = {"(": ")", "{": "}", "<": ">"}[text[start]]
    depth = 0
    for at in range(start, len(text)):
        if text[at] == text[start]:
            depth += 1
        elif text[at] == pair and text[at - 1] != "-":
            depth -= 1
            if depth == 0:
                return at
    raise ValueError(text[start : start + 80])


def split(text: str) -> list[str]:
    """At the commas that stand in no bracket."""
    parts, depth, word = [], 0, ""
    for at, c in enumerate(text):
        depth += (c in "<([{") - (c in ">)]}" and text[at - 1] != "-")
        if c == "," and depth == 0:
            parts.append(word.strip())
            word = ""
        else:
            word += c
    return [*parts, word.strip()] if word.strip() else parts


METHOD = re.compile(
    r"#\[unsafe\(method\((?P<selector>[^)]*)\)\)\](?P<attributes>(?:\s*#\[[^\n]*\])*)\s*"
    r"(?:pub )?(?:unsafe )?fn (?:r#)?\w+(?:<[^>(]*>)?\((?P<arguments>.*?)\)\s*(?:-> (?P<result>[^;]*?))?\s*(?:where[^;]*)?;",
    re.S,
)


class Framework:
    """What one crate declares."""

    def __init__(self, folder: pathlib.Path):
        self.text = ""
        for file in sorted((folder / "src").rglob("*.rs")):
            lines = file.read_text().split("\n")
            self.text += "\n".join(line for line in lines if not line.lstrip().startswith("//")) + "\n"
        self.methods: dict[str, dict[str, tuple]] = {}
        self.parents: dict[str, list[str]] = {}
        self.protocols: set[str] = set()
        for found in re.finditer(r"pub unsafe trait (\w+)(?:<[^>]*>)?\s*:?([^{]*)\{", self.text):
            name = found[1]
            self.protocols.add(name)
            self.parents.setdefault(name, []).extend(re.findall(r"\bMTL\w+", found[2]))
            self.read(name, self.text[found.end() : closing(self.text, found.end() - 1)])
        for found in re.finditer(r"#\[unsafe\(super\(([^)]*)\)\)\][^;{]*?pub struct (\w+)", self.text):
            self.parents.setdefault(found[2], []).extend(each.strip() for each in found[1].split(",")[:1])
        for found in re.finditer(r"\nimpl(?:<[^{]*?>)? (\w+)(?:<[^{]*?>)? \{", self.text):
            body = self.text[found.end() : closing(self.text, found.end() - 1)]
            if "extern_methods!" in body:
                self.read(found[1], body)

    def read(self, owner: str, body: str) -> None:
        for found in METHOD.finditer(body):
            selector, arguments = found["selector"], split(found["arguments"])
            own = bool(arguments) and re.match(r"&(mut )?self$|this: Allocated", arguments[0]) is not None
            types = [each.split(":", 1)[1].strip() for each in arguments[own:]]
            result = (found["result"] or "()").strip()
            if selector.endswith(":_"):  # an error by reference, in Rust a Result
                selector = selector[:-1]
                types.append("&mut NSError")
                inner = re.match(r"Result<(.*),\s*Retained<NSError>\s*,?>$", result, re.S)
                good = inner[1].strip() if inner else result
                result = "bool" if good == "()" else f"Option<{good}>"
            deprecated = "deprecated" in found["attributes"]
            self.methods.setdefault(owner, {}).setdefault(selector, (own, types, result, deprecated))

    def enumeration(self, name: str) -> tuple[str, dict[str, str]] | None:
        """Its scalar, and its constants by C name, as expressions."""
        kind = re.search(rf"pub struct {name}\(pub (\w+)\);", self.text)
        if not kind:
            return None
        constants = {}
        for body in re.finditer(rf"impl {name}(?:: \w+)? \{{", self.text):
            part = self.text[body.end() : closing(self.text, body.end() - 1)]
            for each in re.finditer(
                r'#\[doc\(alias = "(\w+)"\)\]\s*(?:#\[[^\n]*\]\s*)*(?:pub )?const (\w+)(?:: Self)? = (?:Self\()?([^;]*?)\)?;',
                part,
            ):
                constants[each[1]] = (each[2], each[3])
        return kind[1], constants

    def value(self, expression: str) -> int:
        """Of constants that may name others."""

        def named(found: re.Match) -> str:
            if found[2] is None:
                constant = re.search(rf"pub const {found[1]}: \w+ = ([^;]*);", self.text)
                return str(self.value(constant[1])) if constant else found[1]
            _, constants = self.enumeration(found[1])
            return str(next(self.value(text) for short, text in constants.values() if short == found[2]))

        expression = re.sub(r"\.0\b|\.bits\(\)", "", expression)
        expression = re.sub(r"\b(0x)?(\w*)_(usize|isize|u64|i64)\b", r"\1\2", expression)
        return eval(re.sub(r"\b([A-Z]\w+)(?:::(\w+))?", named, expression))  # noqa: S307


class Header:
    """One framework as Objective-C."""

    def __init__(self, name: str, framework: Framework, wanted: set[str]):
        self.name, self.framework, self.wanted = name, framework, wanted

    def type(self, rust: str) -> str:
        rust = re.sub(r"\s+", " ", rust).strip()
        nullable = False
        while rust.startswith("Option<") and rust.endswith(">"):
            rust, nullable = rust[7:-1].strip(), True
        mark = " _Nullable" if nullable else " _Nonnull"
        if rust == "&mut NSError":
            return "NSError * _Nullable * _Nullable"
        if found := re.match(r"&(?:block2::)?DynBlock<dyn Fn\((.*)\)>$", rust):
            return f"void (^{mark})({', '.join(self.type(each) for each in split(found[1]))})"
        if found := re.match(r"(?:Retained|Allocated)<(.*)>$", rust):
            rust = "&" + found[1]
        if found := re.match(r"NonNull<(.*)>$|\*(?:mut|const) (.*)$", rust):
            inner = found[1] or found[2]
            constant = "const " if inner in ("c_void", "c_char") and "mut" not in rust else ""
            return f"{constant}{self.type(inner)} *{mark}"
        if rust.startswith("&"):
            return self.reference(rust[1:].removeprefix("mut ").strip(), mark)
        if rust in OPAQUE or rust in SCALARS:
            return OPAQUE.get(rust) or SCALARS[rust]
        if rust in self.wanted:
            return rust
        if found := re.search(rf"pub type {re.escape(rust)} = (\w+);", self.framework.text):
            return self.type(found[1])
        raise Untranslatable(rust)

    def reference(self, rust: str, mark: str) -> str:
        if found := re.match(r"ProtocolObject<dyn (\w+)>$", rust):
            if found[1] not in self.wanted:
                raise Untranslatable(rust)
            return f"id<{found[1]}>{mark}"
        if found := re.match(r"Option<Retained<(\w+)>>$", rust):  # filled in by the callee
            return f"{self.reference(found[1], ' _Nullable')} * _Nullable"
        if rust == "NSObject":
            return f"NSObject *{mark}"
        if rust in ("AnyObject", "ObjectType", "KeyType"):
            return f"id{mark}"
        if rust == "Self":
            return f"instancetype{mark}"
        if rust in OPAQUE:
            return OPAQUE[rust] + mark
        if found := re.match(r"(NSArray|NSDictionary)<(.*)>$", rust):
            inner = ", ".join(re.sub(r" _Non\w+", "", self.type("&" + each)) for each in split(found[2]))
            return f"{found[1]}<{inner}> *{mark}"
        if found := re.search(rf"pub type {re.escape(rust)} = (\w+);", self.framework.text):
            rust = found[1]
        if rust not in self.wanted:
            raise Untranslatable(rust)
        return f"{rust} *{mark}"

    def availability(self, words: str) -> str:
        for version, pattern in NEWER.items():
            if re.fullmatch(re.sub(r"\n\s*", "", pattern), words):
                return f" API_AVAILABLE(macos({version}.0))"
        return ""

    def method(self, owner: str, selector: str) -> str:
        own, types, result, deprecated = self.framework.methods[owner][selector]
        words = selector.split(":")
        typed = [f"{word}:({self.type(each)})a{i}" for i, (word, each) in enumerate(zip(words, types))]
        returned = self.type(result)
        if "c_void" in result:  # Rust does not tell `void *` from `const void *`
            returned = returned.removeprefix("const ")
        line = f"{'-' if own else '+'} ({returned}){' '.join(typed) or selector}"
        line += self.availability(owner) or self.availability(f"{owner} {selector}")
        return line + (" __attribute__((deprecated));" if deprecated else ";")

    def members(self, owner: str) -> list[str]:
        lines = []
        for selector in self.framework.methods.get(owner, {}):
            if selector in ("init", "new", "isEqual:", "hash", "description"):
                continue
            try:
                lines.append(self.method(owner, selector))
            except Untranslatable:
                continue
        return lines

    def enumerations(self) -> list[str]:
        lines = []
        for name in sorted(self.wanted):
            found = self.framework.enumeration(name)
            if not found:
                continue
            kind = SCALARS[found[0]]
            since = self.availability(name)
            constants = ", ".join(
                f"{constant}{self.availability(constant)} = {self.framework.value(text)}"
                for constant, (_, text) in found[1].items()
            )
            lines.append(f"typedef enum __attribute__((enum_extensibility(open))) {name} : {kind} {name}{since};")
            lines.append(f"enum {name} : {kind} {{ {constants} }}{since};")
        return lines

    def structures(self) -> list[str]:
        lines = []
        for name in sorted(self.wanted):
            found = re.search(rf"pub struct {name} \{{(.*?)\}}", self.framework.text, re.S)
            if found:
                fields = re.findall(r"pub (\w+): (\w+)", found[1])
                lines.append(f"typedef struct {{ {' '.join(f'{SCALARS[t]} {n};' for n, t in fields)} }} {name};")
        return lines

    def types(self) -> list[str]:
        """Protocols and classes, each behind those it extends."""
        lines, done = [], set()

        def declare(name: str) -> None:
            if name in done or name not in self.wanted or name not in self.framework.methods:
                return
            done.add(name)
            parents = [each for each in self.framework.parents.get(name, []) if each in self.wanted]
            for each in parents:
                declare(each)
            since = self.availability(name).strip()
            if since:
                lines.append(since)
            if name in self.framework.protocols:
                lines.append(f"@protocol {name} <{', '.join(parents or ['NSObject'])}>")
            else:
                generic = {"NSArray": "<ObjectType>", "NSDictionary": "<KeyType, ObjectType>"}.get(name, "")
                extra = ", NSFastEnumeration" if name == "NSArray" else ""
                parent = parents[0] if parents else "NSObject"
                lines.append(f"@interface {name}{generic} : {parent} <NSCopying{extra}>")
            lines.extend(self.members(name))
            lines.append("@end")

        for name in sorted(self.wanted):
            declare(name)
        return lines

    def forward(self) -> list[str]:
        mine = [name for name in sorted(self.wanted) if name in self.framework.methods]
        protocols = [name for name in mine if name in self.framework.protocols]
        generic = {"NSArray": "NSArray<ObjectType>", "NSDictionary": "NSDictionary<KeyType, ObjectType>"}
        classes = [generic.get(name, name) for name in mine if name not in self.framework.protocols]
        return [f"@class {', '.join(classes)};"] + ([f"@protocol {', '.join(protocols)};"] if protocols else [])

    def text(self) -> str:
        lines = [
            f"// Made by generate.py from {CRATES[self.name]} 0.3.2 (Zlib, Apache-2.0 or MIT).",
            "#pragma once",
            f'#include "../prelude/{self.name}.h"',
            *self.forward(),
            *self.enumerations(),
            *self.structures(),
            *self.types(),
            f'#include "../epilogue/{self.name}.h"',
        ]
        return "\n".join(lines) + "\n"


def main(vendor: str) -> None:
    include = pathlib.Path(__file__).parent / "include"
    wanted: set[str] = set()
    for name, words in TYPES.items():
        wanted |= set(words.split())
        header = Header(name, Framework(pathlib.Path(vendor) / CRATES[name]), wanted)
        (include / name / f"{name}.h").write_text(header.text())


main(sys.argv[1])
