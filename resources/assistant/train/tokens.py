"""The tokenizer that stands in a GGUF file of SmolLM2: byte-level BPE, digits one by one."""
from gguf import GGUFReader
from tokenizers import Regex, Tokenizer, decoders, models, pre_tokenizers


def tokenizer(path):
    fields = GGUFReader(path).fields
    strings = lambda key: [bytes(fields[key].parts[at]).decode("utf-8") for at in fields[key].data]
    tokens = strings("tokenizer.ggml.tokens")
    merges = [tuple(one.split(" ", 1)) for one in strings("tokenizer.ggml.merges")]
    kinds = [int(fields["tokenizer.ggml.token_type"].parts[at][0]) for at in fields["tokenizer.ggml.token_type"].data]
    made = Tokenizer(models.BPE({token: at for at, token in enumerate(tokens)}, merges))
    made.pre_tokenizer = pre_tokenizers.Sequence([pre_tokenizers.Digits(individual_digits=True), pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=True)])
    made.decoder = decoders.ByteLevel()
    made.add_special_tokens([token for token, kind in zip(tokens, kinds) if kind == 3])
    return made
