"""Encoders, which embedding models are: every token sees all others, and nothing is kept of a request.

Source: transformers 5, BertModel, XLMRobertaModel and Gemma3TextModel; vLLM 0.33, EncoderOnlyAttention, whose layers
ask for no cache. Not counted are the dense layers that sentence-transformers puts behind some models.
"""

from __future__ import annotations

from modelplane.errors import Unsupported
from modelplane.sizing import feedforward
from modelplane.sizing.attention import Grouped
from modelplane.sizing.fields import CONTEXT_MAX, Fields
from modelplane.sizing.model import Attention, Cache, CacheKind, Layer

BERT = frozenset({"bert", "roberta", "xlm-roberta"})
"""The architectures with learned positions and biases. Words are as in `model_type`."""
_GEMMA = "gemma3_text"
KINDS = BERT | {_GEMMA}


def bert(fields: Fields, hidden: int, count: int) -> tuple[Layer, ...]:
    """Return the layers of BERT and its relatives: biases everywhere, two matrices in the feed-forward part."""
    if fields.flag("is_decoder", default=False):
        raise Unsupported("is_decoder: a decoder of this architecture has no formula here")
    if fields.text("position_embedding_type", default="absolute") != "absolute":
        raise Unsupported("position_embedding_type: positions that are not absolute have no formula here")
    wide = fields.size("intermediate_size")
    made = Attention(split=4 * hidden * hidden + 3 * hidden, whole=hidden)
    layer = Layer(made, Cache(CacheKind.NONE), mlp=2 * hidden * wide, other=wide + hidden + 4 * hidden)
    return (layer,) * count


def gemma(fields: Fields, hidden: int, count: int) -> tuple[Layer, ...]:
    """Return the layers of EmbeddingGemma."""
    if not fields.flag("use_bidirectional_attention", default=False):
        raise Unsupported("use_bidirectional_attention: this architecture has a formula as an encoder alone")
    heads = fields.size("num_attention_heads")
    width = fields.size("head_dim")
    kv_heads = fields.size("num_key_value_heads", default=heads)
    made, _ = Grouped(hidden, heads, kv_heads, width, width, norms=2 * width).layer()
    layer = Layer(made, Cache(CacheKind.NONE), other=4 * hidden)
    return tuple(feedforward.added(layer, fields, hidden, position) for position in range(count))


def beside(kind: str, fields: Fields, hidden: int) -> int:
    """Return the parameters beside the layers and the words: positions, kinds of text, a norm, and the pooler."""
    if kind not in BERT:
        return 0
    rows = fields.size("max_position_embeddings", most=CONTEXT_MAX) + fields.size("type_vocab_size", default=2)
    return (rows + 1) * hidden + hidden * (hidden + 1)


def context(kind: str, fields: Fields) -> int:
    """Return the longest request: RoBERTa counts its positions from behind the one of the padding."""
    positions = fields.size("max_position_embeddings", most=CONTEXT_MAX)
    if kind in BERT and kind != "bert":
        return max(1, positions - fields.size("pad_token_id", default=1, least=0) - 1)
    return positions
