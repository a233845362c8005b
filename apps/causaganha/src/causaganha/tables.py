"""The tables: editions, their decisions, the matches made of them, and ratings."""

from __future__ import annotations

from typing import Any

from sqlalchemy import (
    JSON,
    Column,
    Double,
    ForeignKey,
    Integer,
    MetaData,
    Table,
    Text,
    UniqueConstraint,
)

METADATA = MetaData()

# Byte order on every database: the order of matches must not depend on a server's language.
_ORDERED = Text().with_variant(Text(collation="C"), "postgresql")


def _time(name: str) -> Column[Any]:
    """ISO 8601 in UTC."""
    return Column(name, Text)


pdfs = Table(
    "pdfs",
    METADATA,
    Column("id", Integer, primary_key=True),
    Column("url", Text, nullable=False, unique=True),
    Column("date", Text, nullable=False),
    Column("number", Text, nullable=False),
    Column("suffix", Text, nullable=False),
    Column("year", Integer, nullable=False),
    Column("local_path", Text, nullable=False),
    Column("file_size", Integer, nullable=False),
    Column("sha256_hash", Text, nullable=False),
    Column("download_duration_ms", Integer, nullable=False),
    Column("discovery_queue_id", Integer, nullable=False),
    Column("archive_id", Text, nullable=False, unique=True),
    Column("ia_url", Text),
    Column("decisions_found", Integer),
    _time("created_at"),
    _time("updated_at"),
    _time("rated_at"),
    _time("finished_at"),
)

decisions = Table(
    "decisions",
    METADATA,
    Column("id", Integer, primary_key=True),
    Column("pdf_id", Integer, ForeignKey("pdfs.id"), nullable=False, index=True),
    Column("fingerprint", Text, nullable=False, index=True),
    Column("sort_key", _ORDERED, nullable=False, unique=True),
    Column("process_number", Text, nullable=False),
    Column("polo_ativo", JSON, nullable=False),
    Column("polo_passivo", JSON, nullable=False),
    Column("lawyers_polo_ativo", JSON, nullable=False),
    Column("lawyers_polo_passivo", JSON, nullable=False),
    Column("decision_type", Text, nullable=False),
    Column("outcome", Text, nullable=False),
    Column("date", Text, nullable=False),
    Column("summary", Text, nullable=False),
    Column("raw_text", Text, nullable=False),
    UniqueConstraint("pdf_id", "fingerprint"),
)

matches = Table(
    "matches",
    METADATA,
    Column("fingerprint", Text, primary_key=True),
    Column("pdf_id", Integer, nullable=False, index=True),
    Column("sort_key", _ORDERED, nullable=False, unique=True),
    Column("data_partida", Text, nullable=False),
    Column("numero_processo", Text, nullable=False),
    Column("equipe_a_ids", JSON, nullable=False),
    Column("equipe_b_ids", JSON, nullable=False),
    Column("ratings_equipe_a_antes", JSON, nullable=False),
    Column("ratings_equipe_b_antes", JSON, nullable=False),
    Column("ratings_equipe_a_depois", JSON, nullable=False),
    Column("ratings_equipe_b_depois", JSON, nullable=False),
    Column("resultado_partida", Text, nullable=False),
)

ratings = Table(
    "ratings",
    METADATA,
    Column("advogado_id", Text, primary_key=True),
    Column("nome", Text, nullable=False),
    Column("mu", Double, nullable=False),
    Column("sigma", Double, nullable=False),
    Column("total_partidas", Integer, nullable=False),
    _time("created_at"),
    _time("updated_at"),
)
