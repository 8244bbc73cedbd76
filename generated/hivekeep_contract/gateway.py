"""The agent event gateway: its operations, and the tables that its rules look things up in.

Printed from registry/gateway/ by `make generate`; do not edit.
"""

from typing import Any, Literal, NamedTuple


class Field(NamedTuple):
    """A field of a query string, as the text or the decimal number that it is."""

    name: str
    type: Literal["text", "integer"]
    required: bool
    default: Any


class Operation(NamedTuple):
    """One operation.

    `name` is that of its envelope, `stem` its method of the handlers, `path` the whole path, with `{runId}` when it is on a
    run. `scope` says where the key of a write counts: `global`, or `run`; `none` for a read. `state_first`: the handler
    checks the body, when it has looked at the state of the run. `defaults` are those of the fields of its body or query.
    """

    name: str
    stem: str
    http_method: Literal["GET", "POST"]
    path: str
    scope: Literal["none", "global", "run"]
    has_run: bool
    writes: bool
    state_first: bool
    query: tuple[Field, ...]
    defaults: dict[str, Any]
    failures: tuple[str, ...]


class TextFormat(NamedTuple):
    """What a text of this format is: `pattern` for all of it, and at most `units_max` UTF-16 units."""

    pattern: str
    units_max: int | None


BASE_PATH = "/api/v1"
API_VERSION = "1"

#: The client makes a new key for each write. The same request with the same key is carried out once, however often it is sent.
KEY_HEADER = "Idempotency-Key"

#: It says how many seconds to wait before the same request is sent again.
RETRY_HEADER = "Retry-After"

#: By name.
OPERATIONS: dict[str, Operation] = {
    "agent.open": Operation(
        name="agent.open",
        stem="open",
        http_method="POST",
        path="/api/v1/agent/runs",
        scope="global",
        has_run=False,
        writes=True,
        state_first=False,
        query=(),
        defaults={},
        failures=(
            "validation_error",
            "authentication_error",
            "not_found",
            "conflict",
            "security_rejection",
            "backpressure",
            "integrity_error",
            "unexpected_error",
            "database_error",
            "service_unavailable",
        ),
    ),
    "agent.answer": Operation(
        name="agent.answer",
        stem="answer",
        http_method="POST",
        path="/api/v1/agent/runs/{runId}/intake/answers",
        scope="run",
        has_run=True,
        writes=True,
        state_first=False,
        query=(),
        defaults={},
        failures=(
            "validation_error",
            "authentication_error",
            "not_found",
            "conflict",
            "security_rejection",
            "backpressure",
            "integrity_error",
            "unexpected_error",
            "database_error",
            "service_unavailable",
        ),
    ),
    "agent.events": Operation(
        name="agent.events",
        stem="events",
        http_method="POST",
        path="/api/v1/agent/runs/{runId}/events",
        scope="run",
        has_run=True,
        writes=True,
        state_first=False,
        query=(),
        defaults={},
        failures=(
            "validation_error",
            "authentication_error",
            "not_found",
            "conflict",
            "security_rejection",
            "backpressure",
            "integrity_error",
            "unexpected_error",
            "database_error",
            "service_unavailable",
        ),
    ),
    "agent.checkpoint": Operation(
        name="agent.checkpoint",
        stem="checkpoint",
        http_method="POST",
        path="/api/v1/agent/runs/{runId}/checkpoints",
        scope="run",
        has_run=True,
        writes=True,
        state_first=True,
        query=(),
        defaults={"characterBudget": 8000},
        failures=(
            "validation_error",
            "authentication_error",
            "not_found",
            "conflict",
            "security_rejection",
            "backpressure",
            "integrity_error",
            "unexpected_error",
            "database_error",
            "service_unavailable",
        ),
    ),
    "agent.close": Operation(
        name="agent.close",
        stem="close",
        http_method="POST",
        path="/api/v1/agent/runs/{runId}/close",
        scope="run",
        has_run=True,
        writes=True,
        state_first=False,
        query=(),
        defaults={},
        failures=(
            "validation_error",
            "authentication_error",
            "not_found",
            "conflict",
            "security_rejection",
            "backpressure",
            "integrity_error",
            "unexpected_error",
            "database_error",
            "service_unavailable",
        ),
    ),
    "agent.feedback": Operation(
        name="agent.feedback",
        stem="feedback",
        http_method="POST",
        path="/api/v1/agent/runs/{runId}/feedback",
        scope="run",
        has_run=True,
        writes=True,
        state_first=False,
        query=(),
        defaults={},
        failures=(
            "validation_error",
            "authentication_error",
            "not_found",
            "conflict",
            "security_rejection",
            "backpressure",
            "integrity_error",
            "unexpected_error",
            "database_error",
            "service_unavailable",
        ),
    ),
    "agent.promotions": Operation(
        name="agent.promotions",
        stem="promotions",
        http_method="POST",
        path="/api/v1/agent/runs/{runId}/promotions",
        scope="run",
        has_run=True,
        writes=True,
        state_first=False,
        query=(),
        defaults={},
        failures=(
            "validation_error",
            "authentication_error",
            "not_found",
            "conflict",
            "security_rejection",
            "backpressure",
            "integrity_error",
            "unexpected_error",
            "database_error",
            "service_unavailable",
        ),
    ),
    "agent.runs.list": Operation(
        name="agent.runs.list",
        stem="runs_list",
        http_method="GET",
        path="/api/v1/agent/runs",
        scope="none",
        has_run=False,
        writes=False,
        state_first=False,
        query=(
            Field("workspace", "text", True, None),
            Field("client", "text", False, None),
            Field("status", "text", False, None),
            Field("cursor", "text", False, None),
            Field("limit", "integer", False, 100),
        ),
        defaults={"limit": 100},
        failures=(
            "validation_error",
            "authentication_error",
            "security_rejection",
            "integrity_error",
            "unexpected_error",
            "database_error",
            "service_unavailable",
        ),
    ),
    "agent.run.read": Operation(
        name="agent.run.read",
        stem="run_read",
        http_method="GET",
        path="/api/v1/agent/runs/{runId}",
        scope="none",
        has_run=True,
        writes=False,
        state_first=False,
        query=(),
        defaults={},
        failures=(
            "validation_error",
            "authentication_error",
            "not_found",
            "security_rejection",
            "integrity_error",
            "unexpected_error",
            "database_error",
            "service_unavailable",
        ),
    ),
    "agent.intake.read": Operation(
        name="agent.intake.read",
        stem="intake_read",
        http_method="GET",
        path="/api/v1/agent/runs/{runId}/intake",
        scope="none",
        has_run=True,
        writes=False,
        state_first=False,
        query=(),
        defaults={},
        failures=(
            "validation_error",
            "authentication_error",
            "not_found",
            "security_rejection",
            "integrity_error",
            "unexpected_error",
            "database_error",
            "service_unavailable",
        ),
    ),
    "agent.events.list": Operation(
        name="agent.events.list",
        stem="events_list",
        http_method="GET",
        path="/api/v1/agent/runs/{runId}/events",
        scope="none",
        has_run=True,
        writes=False,
        state_first=False,
        query=(
            Field("after", "integer", False, None),
            Field("limit", "integer", False, 100),
            Field("type", "text", False, None),
        ),
        defaults={"limit": 100},
        failures=(
            "validation_error",
            "authentication_error",
            "not_found",
            "security_rejection",
            "integrity_error",
            "unexpected_error",
            "database_error",
            "service_unavailable",
        ),
    ),
}

TEXT_FORMATS: dict[str, TextFormat] = {
    "gateway_id": TextFormat(
        "^[^\\u0000-\\u001F\\u007F-\\u009F]*[^\\u0000-\\u0020\\u007F-\\u00A0\\u1680\\u2000-\\u200A\\u2028\\u2029\\u202F\\u205F\\u3000][^\\u0000-\\u001F\\u007F-\\u009F]*$",
        256,
    ),
    "gateway_run_id": TextFormat("^[^\\u0000-\\u001F\\u007F-\\u009F/\\\\]+$", 256),
    "gateway_key": TextFormat("^[!-~]([ -~]*[!-~])?$", 256),
    "gateway_event_id": TextFormat("^[A-Za-z0-9][A-Za-z0-9._:-]*$", 256),
    "event_text_id": TextFormat(
        "^[^\\u0000]*[^\\u0000\\u0009-\\u000D\\u001C-\\u0020\\u0085\\u00A0\\u1680\\u2000-\\u200A\\u2028\\u2029\\u202F\\u205F\\u3000][^\\u0000]*$",
        256,
    ),
    "gateway_line": TextFormat(
        "^[^\\u0000-\\u001F\\u007F-\\u009F]*[^\\u0000-\\u0020\\u007F-\\u00A0\\u1680\\u2000-\\u200A\\u2028\\u2029\\u202F\\u205F\\u3000][^\\u0000-\\u001F\\u007F-\\u009F]*$",
        16384,
    ),
    "gateway_text": TextFormat(
        "^[^\\u0000-\\u0008\\u000B-\\u001F\\u007F-\\u009F]*[^\\u0000-\\u0020\\u007F-\\u00A0\\u1680\\u2000-\\u200A\\u2028\\u2029\\u202F\\u205F\\u3000][^\\u0000-\\u0008\\u000B-\\u001F\\u007F-\\u009F]*$",
        16384,
    ),
    "step_text": TextFormat("^[^\\u0000-\\u001F\\u007F-\\u009F]+$", 4096),
    "gateway_timestamp": TextFormat(
        "^[0-9]{4}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])T([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9]\\.[0-9]{3}Z$",
        None,
    ),
    "gateway_uuid": TextFormat("^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$", None),
    "hex64": TextFormat("^[0-9a-f]{64}$", None),
}

#: The place of each recommendation, 1 first.
RECOMMENDATION_PRIORITIES: dict[str, int] = {
    "INTAKE_INCOMPLETE": 1,
    "VERIFY_AFTER_MUTATION": 2,
    "SIDE_EFFECT_OUTCOME_UNKNOWN": 3,
    "UNRESOLVED_FAILURE": 4,
    "COVERAGE_INCOMPLETE": 5,
    "CONTEXT_STALE": 6,
    "CONTRADICTORY_MEMORY": 7,
    "PROMOTION_CANDIDATE": 8,
}

#: What each recommendation says.
RECOMMENDATION_MESSAGES: dict[str, str] = {
    "INTAKE_INCOMPLETE": "The intake ended with gaps in the task profile. Report what the task is about as a revision of the profile once it is known.",
    "VERIFY_AFTER_MUTATION": "Something was changed after the last verification that passed. Verify again and report the result before relying on it.",
    "SIDE_EFFECT_OUTCOME_UNKNOWN": "It is not known what a tool call did. Look at what it was to change before repeating it, and report what was found.",
    "UNRESOLVED_FAILURE": "A failure was reported that no later event resolves. Deal with it, and name it in the event that resolves it.",
    "COVERAGE_INCOMPLETE": "The client does not report everything that it does. The ledger of this run is no complete transcript.",
    "CONTEXT_STALE": "An entry that was delivered to this run has a newer revision. Read the newer one before relying on it.",
    "CONTRADICTORY_MEMORY": "Verified entries that were delivered to this run contradict each other. Check both against the repository, and give feedback.",
    "PROMOTION_CANDIDATE": "A proposal of this run can be kept as a candidate entry. Somebody should look at it and promote it.",
}

#: The place of each nudge, the lowest first.
NUDGE_PRIORITIES: dict[str, int] = {
    "SIDE_EFFECT_OUTCOME_UNKNOWN": 2,
    "UNRESOLVED_FAILURE": 3,
    "VERIFY_AFTER_MUTATION": 4,
}

#: Names of the Skills that come with the program.
SKILLS_SHIPPED: tuple[str, ...] = ("kiokuko-soul", "memory-reasoning")

#: What is said of a catalog that could not be taken whole, by the code of the warning.
CATALOG_WARNINGS: dict[str, str] = {
    "CAPABILITY_CATALOG_COMPACTED": "Long descriptions in the capability catalog were shortened or left out.",
    "CAPABILITY_CATALOG_ITEMS_DROPPED": "Items of the capability catalog were dropped because they are malformed or beyond its limits.",
    "CAPABILITY_CATALOG_BUDGET_EXCEEDED": "The capability catalog is larger than the limit of its characters; the rest of it was dropped.",
    "CAPABILITY_CATALOG_UNAVAILABLE": "The capability catalog could not be taken whole, so a missing capability counts as unknown.",
}

#: Task types for which memory that can be acted upon is handed out with the Skill for it alone.
MEMORY_TASK_TYPES: tuple[str, ...] = ("build", "debug")

#: Why a capability is recommended.
CAPABILITY_REASONS: dict[str, str] = {
    "soul": "Every answer of the gateway that carries memory needs this Skill.",
    "tag": "This Skill suits the type of the task.",
    "ui": "The task is about a user interface.",
    "functions": "The task asks for code.",
    "memory": "Memory that can be acted upon was found for a task of this type; it is handed out with this Skill alone.",
    "similar": "The capability and the task share words.",
}

#: Words that belong to the work of a task type; a capability that shares them may help.
ROLE_WORDS: dict[str, tuple[str, ...]] = {
    "build": (
        "build",
        "builder",
        "code",
        "coding",
        "compile",
        "create",
        "develop",
        "feature",
        "implement",
        "implementation",
        "program",
        "scaffold",
        "tdd",
        "test",
        "testing",
    ),
    "debug": (
        "bug",
        "crash",
        "debug",
        "debugger",
        "debugging",
        "diagnose",
        "diagnosing",
        "error",
        "failure",
        "fix",
        "log",
        "profiler",
        "stack",
        "trace",
        "traceback",
    ),
    "research": (
        "article",
        "cite",
        "citation",
        "compare",
        "documentation",
        "fetch",
        "lookup",
        "paper",
        "research",
        "researcher",
        "search",
        "source",
        "survey",
        "web",
    ),
    "review": (
        "audit",
        "check",
        "comment",
        "critique",
        "diff",
        "inspect",
        "lint",
        "quality",
        "review",
        "reviewer",
        "security",
        "verify",
    ),
    "devops": (
        "ci",
        "cloud",
        "container",
        "deploy",
        "deployment",
        "devops",
        "docker",
        "infrastructure",
        "kubernetes",
        "monitor",
        "monitoring",
        "pipeline",
        "release",
        "server",
    ),
    "writing": (
        "document",
        "documentation",
        "draft",
        "edit",
        "editor",
        "grammar",
        "markdown",
        "prose",
        "readme",
        "style",
        "text",
        "write",
        "writer",
        "writing",
    ),
    "analysis": (
        "aggregate",
        "analysis",
        "analyst",
        "analyze",
        "analyse",
        "chart",
        "csv",
        "data",
        "dataset",
        "metric",
        "plot",
        "query",
        "sql",
        "statistics",
    ),
}

#: A task that says one of these is about a user interface. Words are compared whole, other scripts as they
#: stand.
UI_PHRASES: tuple[str, ...] = (
    "ui",
    "ux",
    "user interface",
    "web page",
    "web pages",
    "webpage",
    "web site",
    "website",
    "landing page",
    "frontend",
    "front end",
    "dashboard",
    "css",
    "stylesheet",
    "responsive layout",
    "page layout",
    "screen design",
    "visual design",
    "design system",
    "component library",
    "modal dialog",
    "dialog box",
    "dropdown",
    "tooltip",
    "navbar",
    "navigation bar",
    "sidebar",
    "dark mode",
    "wireframe",
    "mockup",
    "画面",
    "ユーザーインターフェース",
    "フロントエンド",
    "ダッシュボード",
    "見た目",
    "レイアウト",
)

#: A task that says one of these leaves the user interface alone.
UI_EXCLUSIONS: tuple[str, ...] = (
    "no ui",
    "not the ui",
    "non ui",
    "without ui",
    "without a ui",
    "without the ui",
    "without touching the ui",
    "do not touch the ui",
    "don't touch the ui",
    "do not change the ui",
    "don't change the ui",
    "no ui changes",
    "no ui change",
    "leave the ui",
    "no user interface",
    "without a user interface",
    "without user interface",
    "no frontend",
    "not the frontend",
    "without frontend",
    "without the frontend",
    "do not touch the frontend",
    "don't touch the frontend",
    "no front end",
    "backend only",
    "back end only",
    "only the backend",
    "only backend",
    "api only",
    "only the api",
    "cli only",
    "server side only",
    "headless",
    "画面は変更しない",
    "画面なし",
    "バックエンドのみ",
)

#: A task that says one of these asks for code.
CODING_PHRASES: tuple[str, ...] = (
    "coding",
    "write code",
    "write the code",
    "write some code",
    "change the code",
    "clean up the code",
    "implement",
    "implements",
    "implementing",
    "implementation",
    "refactor",
    "refactors",
    "refactoring",
    "rewrite the function",
    "write a function",
    "write a method",
    "write a class",
    "write a module",
    "write a script",
    "write a program",
    "write a test",
    "write tests",
    "write unit tests",
    "add a function",
    "add a method",
    "add a class",
    "add an endpoint",
    "add a test",
    "add tests",
    "unit test",
    "unit tests",
    "fix the bug",
    "fix a bug",
    "fix this bug",
    "bug fix",
    "bugfix",
    "fix the code",
    "fix the function",
    "extract a function",
    "split the function",
    "実装",
    "コードを書",
    "関数",
    "リファクタリング",
    "プログラム",
)

#: A task that says one of these wants no code written.
CODING_EXCLUSIONS: tuple[str, ...] = (
    "no code",
    "no coding",
    "no code changes",
    "no code change",
    "without code",
    "without coding",
    "without writing code",
    "without changing code",
    "without changing the code",
    "without code changes",
    "do not code",
    "don't code",
    "do not write code",
    "don't write code",
    "do not write any code",
    "don't write any code",
    "do not change code",
    "don't change code",
    "do not change the code",
    "don't change the code",
    "do not change any code",
    "don't change any code",
    "do not touch the code",
    "don't touch the code",
    "do not implement",
    "don't implement",
    "not implement",
    "no implementation",
    "without implementing",
    "documentation only",
    "docs only",
    "only documentation",
    "only the documentation",
    "only docs",
    "plan only",
    "planning only",
    "only plan",
    "only a plan",
    "read only review",
    "コードは書かない",
    "コード変更なし",
    "実装しない",
    "実装は不要",
)

#: The names of project files, the first of them that a folder has counts.
PROJECT_FILES: tuple[str, ...] = (".hivekeep.json", ".kiokuko.json")

#: The fields of a project file and whether each is needed; others are refused.
PROJECT_FIELDS: dict[str, bool] = {
    "schemaVersion": True,
    "repositoryId": True,
    "workspace": True,
    "agentFile": False,
    "templateVersion": False,
}

#: Why a folder belongs to a workspace.
WORKSPACE_REASONS: dict[str, str] = {
    "project_file": "The project file of the folder names it.",
    "place": "The folder is known to be a checkout of its repository.",
    "remote": "The repository has the same remote as a known one, or is known by it from now on.",
    "local": "The repository is known by its folder alone.",
}

#: The fields of a provenance that are ids.
PROVENANCE_TEXTS: tuple[str, ...] = (
    "sourceRepositoryId",
    "sourceWorkspace",
    "sourceCommit",
    "runId",
    "deliveryId",
    "clientKind",
)

#: The fields of a provenance that are lists, and whether their items are relative paths.
PROVENANCE_LISTS: dict[str, bool] = {"evidenceIds": False, "sourcePaths": True}

#: What sort of knowledge a structured scope says an entry holds.
MEMORY_CLASSES: tuple[str, ...] = (
    "implementation-pattern",
    "troubleshooting",
    "tool-usage",
    "extension-usage",
    "configuration",
    "workflow",
    "gotcha",
    "reference",
    "preference",
)

#: For whom an entry with a structured scope is meant.
SCOPE_VISIBILITIES: tuple[str, ...] = ("project", "global")

#: The fields of a structured scope.
SCOPE_FIELDS: tuple[str, ...] = (
    "schemaVersion",
    "visibility",
    "repositoryId",
    "memoryClass",
    "applicability",
    "signals",
    "portableReason",
)

#: The fields of a framework among them and whether each is needed.
FRAMEWORK_FIELDS: dict[str, bool] = {"name": True, "version": False}

#: What the audit of the curated memory calls each thing that is done to an entry.
ENTRY_OPERATIONS: dict[str, str] = {
    "record": "record",
    "revise": "revise",
    "verify": "promote",
    "supersede": "supersede",
    "disable": "disable",
    "enable": "enable",
    "link": "link",
    "import": "import",
    "refresh": "refresh",
    "stale": "stale",
    "purge": "purge",
}

#: What each line of an exported file calls itself.
ARCHIVE_TYPES: dict[str, str] = {
    "checksum": "checksum",
    "manifest": "manifest",
    "source": "source",
    "entry": "entry",
    "revision": "revision",
    "link": "link",
    "audit": "audit",
}

#: The fields of each line of an exported file beside its type; all are needed, others are refused.
ARCHIVE_FIELDS: dict[str, tuple[str, ...]] = {
    "checksum": ("sha256",),
    "manifest": ("format", "version", "workspace", "entries", "revisions", "links", "sources", "audit"),
    "source": ("id", "state", "checksum", "createdAt", "refreshedAt"),
    "entry": (
        "entryId",
        "status",
        "trustLevel",
        "confidence",
        "revision",
        "supersededBy",
        "disabled",
        "source",
        "createdBy",
        "createdAt",
        "updatedAt",
        "verifiedAt",
    ),
    "revision": (
        "revision",
        "kind",
        "title",
        "body",
        "summary",
        "scope",
        "provenance",
        "tags",
        "contentHash",
        "createdBy",
        "createdAt",
    ),
    "link": ("linkId", "fromId", "toId", "relation", "createdBy", "createdAt"),
    "audit": ("operation", "entryId", "revision", "otherId", "actor", "createdAt"),
}

#: What the lines at the top of a Markdown file of a managed source may say, as `name: value`; tags are
#: divided by commas.
FRONT_FIELDS: tuple[str, ...] = ("kind", "title", "summary", "tags")

#: The required slots in the order in which they are asked for; no other slot is ever asked for.
INTAKE_QUESTIONS: tuple[str, ...] = ("taskType", "target", "expected")

#: The slots that the unknown answer may leave open.
INTAKE_DECLINABLE: tuple[str, ...] = ("target", "expected")

#: What the person is asked for each slot.
INTAKE_PROMPTS: dict[str, str] = {
    "taskType": "What sort of task is this: build, debug, research, review, devops, writing or analysis?",
    "target": "What is the task about? Name the component, file, service or topic; answer \"unknown\" if nobody can say yet.",
    "expected": "What shall be true when the task is done? Name something that can be checked; answer \"unknown\" if nobody can say yet.",
}

#: Whole words of a query that tell the sort of task, in lower case; the first sort that has one wins.
INTAKE_WORDS: dict[str, tuple[str, ...]] = {
    "debug": (
        "debug",
        "debugs",
        "debugged",
        "debugging",
        "debugger",
        "bug",
        "bugs",
        "buggy",
        "bugfix",
        "bugfixes",
        "fix",
        "fixes",
        "fixed",
        "fixing",
    ),
    "review": (
        "review",
        "reviews",
        "reviewed",
        "reviewing",
        "reviewer",
        "audit",
        "audits",
        "audited",
        "auditing",
    ),
    "research": ("research", "researches", "researched", "researching"),
    "devops": ("deploy", "deploys", "deployed", "deploying", "deployment", "deployments", "devops"),
    "writing": ("write", "writes", "writing", "documentation", "docs"),
    "analysis": (
        "analysis",
        "analyses",
        "analyse",
        "analysed",
        "analysing",
        "analyze",
        "analyzes",
        "analyzed",
        "analyzing",
    ),
    "build": (
        "build",
        "builds",
        "building",
        "implement",
        "implements",
        "implemented",
        "implementing",
        "implementation",
        "feature",
        "features",
        "code",
        "coding",
    ),
}

#: The same in Japanese, which puts no blanks between words: found anywhere in a query.
INTAKE_SUBSTRINGS: dict[str, tuple[str, ...]] = {
    "debug": ("修正", "不具合", "エラー", "障害"),
    "review": ("レビュー", "監査", "検証"),
    "research": ("調査", "研究", "比較", "検索"),
    "devops": ("運用", "デプロイ", "サーバ", "インフラ"),
    "writing": ("文書", "ドキュメント", "執筆"),
    "analysis": ("分析", "集計"),
    "build": ("実装", "作成", "追加", "開発", "機能"),
}

#: Other answers that name a sort of task, in lower case.
INTAKE_ALIASES: dict[str, tuple[str, ...]] = {
    "build": ("implement", "implementation", "feature", "実装", "開発"),
    "debug": ("bug", "debugging", "fix", "修正", "デバッグ"),
    "research": ("調査", "研究"),
    "review": ("audit", "レビュー", "監査"),
    "devops": ("deploy", "deployment", "運用", "デプロイ"),
    "writing": ("docs", "documentation", "執筆", "文書"),
    "analysis": ("analyse", "analyze", "分析", "集計"),
}

#: The tags that are recommended for each sort of task.
INTAKE_TAGS: dict[str, tuple[str, ...]] = {
    "build": ("bot:builder", "skill:tdd"),
    "debug": ("bot:reviewer", "skill:diagnosing-bugs"),
    "research": ("bot:researcher", "skill:research"),
    "review": ("bot:reviewer", "skill:code-review"),
    "devops": ("bot:devops",),
    "writing": ("bot:writer",),
    "analysis": ("bot:analyst",),
}

#: The tags that are recommended while the sort of task is not known.
INTAKE_UNTYPED_TAGS: tuple[str, ...] = ("bot:common",)

#: Events that are failures until a later event resolves them.
FAILURE_TYPES: tuple[str, ...] = ("step.failed", "tool.failed", "error.recorded")

#: Events after which nobody knows what was done until a later event resolves them.
UNKNOWN_OUTCOME_TYPES: tuple[str, ...] = ("tool.outcome_unknown",)

#: Events that are changes whatever their payload says.
MUTATION_TYPES: tuple[str, ...] = ("file.changed", "task_profile.revised")

#: Events that are changes when their payload says so.
MUTATING_TYPES: tuple[str, ...] = ("command.completed", "tool.completed")

#: Events that are evidence when their outcome is one of those below.
EVIDENCE_TYPES: tuple[str, ...] = ("test.completed", "verification.recorded")

#: Outcomes of a test or verification that passed.
PASSING_OUTCOMES: tuple[str, ...] = ("pass", "passed", "success", "succeeded")

#: Outcomes of a test or verification that failed.
FAILING_OUTCOMES: tuple[str, ...] = ("failed",)

#: Events that revise the profile of the task.
REVISION_TYPES: tuple[str, ...] = ("task_profile.revised",)

#: Names the form of the hashed event; a part of every hash.
LEDGER_PROTOCOL: str = "hivekeep-ledger-event-v1"

#: Stands for the hash in front of the first event of a run.
LEDGER_ROOT: str = "0000000000000000000000000000000000000000000000000000000000000000"

#: The letters behind the number of an age, and how many seconds each stands for.
AGE_UNITS: dict[str, int] = {"h": 3600, "d": 86400, "w": 604800}

#: The version of the form of the runtime descriptor.
DESCRIPTOR_PROTOCOL: str = "1"

#: The fields of the runtime descriptor, all required, no others; the last one is shown by no command.
DESCRIPTOR_FIELDS: tuple[str, ...] = (
    "protocolVersion",
    "instanceId",
    "pid",
    "baseUrl",
    "databaseFingerprint",
    "startedAt",
    "capabilityToken",
)

#: The header in which an authenticated /health/ready names the instance of the server, so that a client knows
#: whom it talks to.
INSTANCE_HEADER: str = "Hivekeep-Instance"

#: The operation named in the envelope of a command about the process.
PROCESS_OPERATIONS: dict[str, str] = {
    "serve": "serve",
    "web": "web",
    "status": "server.status",
    "descriptor": "server.descriptor",
    "agent": "agent",
    "spool": "agent.spool",
    "flush": "agent.flush",
}

#: The writes that may wait on disk for a server, by what the command line calls them: those whose answer
#: nobody has to see.
SPOOL_OPERATIONS: dict[str, str] = {
    "events": "agent.events",
    "close": "agent.close",
    "feedback": "agent.feedback",
    "promote": "agent.promotions",
}

#: The fields of a write that waits, and no others.
SPOOL_FIELDS: tuple[str, ...] = ("version", "operation", "runId", "key", "body")

#: What `hivekeep agent open` sends where nothing else is given; a command line sees nothing of approvals.
CLIENT_DEFAULTS: dict[str, Any] = {
    "kind": "hivekeep-cli",
    "captureProfile": "standard",
    "coverage": {
        "run": "declared",
        "tool": "declared",
        "command": "declared",
        "file": "declared",
        "approval": "unavailable",
    },
}

#: Capture profiles as the command line calls them, and what is sent for each.
CAPTURE_WORDS: dict[str, str] = {"minimal": "minimal", "standard": "standard", "full": "diagnostic"}

#: What a way of searching counts.
LANE_WEIGHTS: dict[str, float] = {"exact_signal": 5.0, "tag": 3.0, "trigram": 1.5, "word": 1.0, "like": 0.75}

#: What an entry that a way of searching found is said to be selected for.
LANE_REASONS: dict[str, str] = {
    "exact_signal": "exact_signal_match",
    "tag": "tag_match",
    "trigram": "substring_match",
    "word": "word_match",
    "like": "literal_fallback_match",
}

#: Shapes of database statements that no sentence has. A text that has one and names no symbol, path, error,
#: package or command is searched for nothing.
SQL_SHAPES: tuple[str, ...] = (
    "(?i)\\bunion\\s{1,9}(?:all\\s{1,9})?select\\b",
    "(?i)\\bselect\\s{1,9}(?:\\*|count\\s?\\()",
    "(?i)\\bselect\\s[^;]{1,99}\\sfrom\\s{1,9}\\w{1,60}\\s{1,9}where\\s{1,9}\\w{1,60}\\s{0,9}(?:[=<>]|like\\b|in\\s?\\()",
    "(?i)\\binsert\\s{1,9}into\\s[^;]{1,99}\\bvalues\\s?\\(",
    "(?i)\\bdelete\\s{1,9}from\\s{1,9}\\w{1,60}\\s{1,9}where\\s{1,9}\\w{1,60}\\s{0,9}(?:[=<>]|like\\b|in\\s?\\()",
    "(?i)\\bupdate\\s{1,9}\\w{1,60}\\s{1,9}set\\s{1,9}\\w{1,60}\\s{0,9}=",
    "(?i)\\b(?:drop|truncate)\\s{1,9}(?:table|index|view|database|trigger)\\s{1,9}(?:if\\s{1,9}exists\\s{1,9})?\\w{1,60}\\s{0,9}(?:;|--)",
    "(?i)\\bcreate\\s{1,9}table\\s{1,9}(?:if\\s{1,9}not\\s{1,9}exists\\s{1,9})?\\w{1,60}\\s{0,9}\\(",
    "(?i)[\"';)]\\s{0,9}\\b(?:or|and)\\s{1,9}[\"'(]{0,2}\\w{1,20}[\"']?\\s{0,9}(?:=|like\\b)",
    "(?i)\\b(?:or|and)\\s{1,9}[\"']?(\\w{1,9})[\"']?\\s{0,9}=\\s{0,9}[\"']?\\1\\b",
    "[\"';]\\s{0,9}--",
)

#: Members of the signals of a structured scope whose values are looked up exactly.
SIGNAL_FIELDS: tuple[str, ...] = ("symbols", "paths", "errors", "packages", "commands")

#: Members of the applicability of a structured scope; the name of a framework counts without its version.
APPLICABILITY_FIELDS: tuple[str, ...] = (
    "languages",
    "frameworks",
    "databases",
    "runtimes",
    "tools",
    "platforms",
)

#: Points for where an entry stands.
STATUS_POINTS: dict[str, int] = {"verified": 100, "candidate": 40}

#: Points for who vouches for an entry.
TRUST_POINTS: dict[str, int] = {
    "system_verified": 30,
    "source_verified": 25,
    "user_asserted": 15,
    "untrusted": 0,
}

#: What is said of who vouches for an entry; of one for which nobody does, nothing.
TRUST_REASONS: dict[str, str] = {
    "system_verified": "system_verified_trust",
    "source_verified": "source_verified_trust",
    "user_asserted": "user_asserted_trust",
}

#: Points for a verdict of one run.
FEEDBACK_POINTS: dict[str, int] = {"helpful": 3, "irrelevant": -3, "stale": -4, "conflicting": -4}

#: What is said of an entry that got a verdict.
FEEDBACK_REASONS: dict[str, str] = {
    "helpful": "helpful_feedback",
    "irrelevant": "irrelevant_feedback",
    "stale": "stale_feedback",
    "conflicting": "conflicting_feedback",
}

#: What is said of where an entry comes from.
ORIGIN_REASONS: dict[str, str] = {
    "project": "project_origin",
    "ecosystem": "ecosystem_origin",
    "global": "global_origin",
}

#: Kinds of entries that fit a sort of task.
TASK_KINDS: dict[str, tuple[str, ...]] = {
    "build": ("decision", "lesson", "reference"),
    "debug": ("lesson", "decision", "reference"),
    "research": ("reference", "fact"),
    "review": ("lesson", "decision", "reference"),
    "devops": ("lesson", "decision", "reference"),
    "writing": ("preference", "reference", "decision"),
    "analysis": ("fact", "reference", "decision"),
}

#: Tags of entries that fit a sort of task.
TASK_TAGS: dict[str, tuple[str, ...]] = {
    "build": (
        "build",
        "builder",
        "implementation",
        "skill:tdd",
        "skill:codebase-design",
        "skill:test-driven-development",
    ),
    "debug": ("debug", "debugging", "reviewer", "skill:diagnosing-bugs", "skill:systematic-debugging"),
    "research": ("research", "researcher", "skill:research", "skill:grounded-citations"),
    "review": ("review", "reviewer", "code-review", "skill:code-review", "skill:requesting-code-review"),
    "devops": ("devops", "skill:wizard", "skill:server-resource-monitoring"),
    "writing": ("writing", "writer", "skill:writing-for-agents", "skill:writing-plans"),
    "analysis": ("analysis", "analyst"),
}

#: Kinds of entries in which error signatures are looked for.
ERROR_SIGNATURE_KINDS: tuple[str, ...] = ("lesson", "reference")

#: Words of paths that nearly every project has; sharing one says nothing.
PATH_STOP_WORDS: tuple[str, ...] = (
    "src",
    "lib",
    "app",
    "apps",
    "pkg",
    "packages",
    "index",
    "main",
    "init",
    "test",
    "tests",
    "spec",
    "docs",
    "dist",
    "build",
    "runtime",
    "json",
    "yaml",
    "yml",
    "toml",
    "txt",
)

#: Why an entry was selected, in the order in which the reasons are told.
SELECTION_REASONS: tuple[str, ...] = (
    "project_origin",
    "ecosystem_origin",
    "global_origin",
    "scope_affinity",
    "applicability_match",
    "applicability_unknown",
    "applicability_mismatch",
    "unscoped_global_prior",
    "exact_signal_match",
    "word_match",
    "semantic_match",
    "lexical_match",
    "cjk_window_match",
    "substring_match",
    "literal_fallback_match",
    "tag_match",
    "verified",
    "candidate",
    "system_verified_trust",
    "source_verified_trust",
    "user_asserted_trust",
    "confidence",
    "task_kind_affinity",
    "task_tag_affinity",
    "recommended_tag_match",
    "target_match",
    "changed_path_match",
    "error_signature_match",
    "helpful_feedback",
    "irrelevant_feedback",
    "stale_feedback",
    "conflicting_feedback",
    "recent",
    "contradiction_warning",
    "revision_changed",
)

#: Reasons of which one makes delivered memory actionable.
ACTIONABLE_REASONS: tuple[str, ...] = (
    "exact_signal_match",
    "word_match",
    "lexical_match",
    "cjk_window_match",
    "applicability_match",
    "tag_match",
    "changed_path_match",
    "error_signature_match",
    "helpful_feedback",
)

#: Provenance of entries that never make memory actionable, because they were not made for this project.
UNACTIONABLE_PROVENANCE: tuple[str, ...] = ("external_skill", "curator")

#: Members of a proposal.
PROMOTION_FIELDS: tuple[str, ...] = ("kind", "title", "body", "summary", "scope", "tags")

#: Members of a scope that say nothing about what an entry is about.
SCOPE_LABELS: tuple[str, ...] = ("schemaVersion", "visibility", "repositoryId", "memoryClass")

#: Kinds of redactions of which a proposal may have none, because what it says is not there any more.
PROMOTION_REFUSALS: tuple[str, ...] = ("secret_pattern", "sensitive_key")

#: Fields that feedback of a category takes beside those that all have.
FEEDBACK_FIELDS: dict[str, tuple[str, ...]] = {
    "context": ("deliveryId", "entryId", "verdict"),
    "recommendation": ("recommendationCode", "recommendationVerdict", "outcome", "rating"),
    "run": ("outcome", "rating", "recommendationCode", "recommendationVerdict"),
    "intake": ("questionId", "profileField", "verdict", "sessionId"),
}

#: Why something was masked, in the order of the rules: reasoning, environment, key, secret, URL, path,
#: output.
REDACTION_KINDS: tuple[str, ...] = (
    "hidden_reasoning",
    "environment_value",
    "sensitive_key",
    "secret_pattern",
    "url",
    "home_path",
    "preview_truncated",
)

#: What stands for a text with a credential of each kind; the first kind that fits is taken.
REDACTION_PATTERN_MARKS: dict[str, str] = {
    "private_key": "[REDACTED:private_key]",
    "authorization_header": "[REDACTED:authorization_header]",
    "known_token_prefix": "[REDACTED:known_token_prefix]",
    "credential_assignment": "[REDACTED:credential_assignment]",
}

#: What a credential of a kind looks like here; wider shapes than those that refuse a write of a verb.
REDACTION_SHAPES: dict[str, str] = {
    "private_key": "-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----",
    "known_token_prefix": "(?<![A-Za-z0-9])(?:sk-[A-Za-z0-9_-]{16}|gh[oprsu]_[A-Za-z0-9]{20}|github_pat_[A-Za-z0-9_]{20}|xox[abprs]-[A-Za-z0-9-]{16}|A[KS]IA[A-Z0-9]{16}|AIza[A-Za-z0-9_-]{20}|npm_[A-Za-z0-9]{20}|hf_[A-Za-z0-9]{20})",
}

#: The same, looked for in the text in lower case.
REDACTION_LOWER_SHAPES: dict[str, str] = {
    "authorization_header": "authorization[\"'\\\\]{0,4}\\s{0,8}[:=]\\s{0,8}[\"'\\\\]{0,4}(?:bearer|basic|token)\\s{1,8}[a-z0-9._~+/=-]{12}",
    "credential_assignment": "(?:api[ _-]?key|access[ _-]?token|refresh[ _-]?token|client[ _-]?secret|password|passwd|secret)[\"'\\\\]{0,4}\\s{0,8}[:=]\\s{0,8}[\"'\\\\]{0,4}[a-z0-9_./+=:-]{12}",
}

#: The kind of each shape of registry/secrets.yaml; a URL with a password is not among them because the rule
#: for URLs cleans it.
REDACTION_DETECTORS: dict[str, str] = {
    "pem-private-key": "private_key",
    "age-secret-key": "private_key",
    "aws-access-key-id": "known_token_prefix",
    "github-token": "known_token_prefix",
    "anthropic-api-key": "known_token_prefix",
    "openai-api-key": "known_token_prefix",
    "stripe-secret-key": "known_token_prefix",
    "stripe-restricted-key": "known_token_prefix",
    "fly-token": "known_token_prefix",
    "vercel-token": "known_token_prefix",
    "slack-token": "known_token_prefix",
    "jwt": "known_token_prefix",
    "high-entropy-token": "credential_assignment",
}

#: What a key says about its value. Found anywhere in the key, in any case, unless the pattern binds it.
REDACTION_KEY_PATTERNS: dict[str, str] = {
    "reasoning": "chain[_-]?of[_-]?thought|hidden[_-]?reasoning|private[_-]?reasoning|internal[_-]?monologue",
    "environment": "\\Aenv(?:ironment)?\\Z",
    "container": "\\A(?:credentials|headers)\\Z",
    "token": "token",
    "credential": "password|passwd|secret|api[_-]?key|authorization|cookie|credential|private[ _-]?key|refresh[ _-]?token|access[ _-]?token",
    "path": "path|file|locator|cwd|directory|workspace|target",
    "preview": "\\A(?:stdout|stderr|output|preview|excerpt|diff)\\Z",
}

#: In lower case. Whatever the shapes and the patterns of keys find holds one of these, or a literal or a
#: trigger of registry/secrets.yaml.
REDACTION_SIGNS: tuple[str, ...] = (
    "chain",
    "reasoning",
    "monologue",
    "password",
    "passwd",
    "secret",
    "token",
    "key",
    "authorization",
    "cookie",
    "credential",
    "-----begin ",
    "sk-",
    "gho_",
    "ghp_",
    "ghr_",
    "ghs_",
    "ghu_",
    "github_pat_",
    "xoxa-",
    "xoxb-",
    "xoxp-",
    "xoxr-",
    "xoxs-",
    "akia",
    "asia",
    "aiza",
    "npm_",
    "hf_",
)

#: Variables of the environment that are kept.
REDACTION_ENVIRONMENT_KEPT: tuple[str, ...] = ("CI", "NODE_ENV", "TERM", "LANG", "LC_ALL", "LC_CTYPE")

#: Parameters of a URL inside of a longer text that hold a credential; a URL with one loses user, query and
#: fragment.
REDACTION_URL_PARAMETERS: str = "(?i)(?:\\A|[?&;#])[^=&;#]{0,64}(?:password|passwd|pwd|secret|token|key|credential|signature|sig|auth|jwt|session|code|cookie)[^=&;#a-z]{0,64}=[^&;#]"

#: The two states in which a run is not over, by what the program calls them.
RUN_STATUSES: dict[str, str] = {"intake": "intake", "active": "active"}

#: Who the events are of that the gateway writes itself.
GATEWAY_ACTORS: dict[str, str] = {"lifecycle": "hivekeep-gateway", "checkpoint": "hivekeep-checkpoint"}

#: The events that the gateway writes when a run changes.
LIFECYCLE_EVENTS: dict[str, str] = {
    "begun": "intake.started",
    "answered": "intake.answered",
    "ready": "intake.ready",
    "exhausted": "intake.exhausted",
    "started": "run.started",
    "closed": "run.closed",
}

#: What may be reported while a run waits for an answer.
INTAKE_EVENT_TYPES: tuple[str, ...] = (
    "intake.started",
    "intake.answered",
    "intake.ready",
    "intake.exhausted",
)

#: The events that a checkpoint takes.
CHECKPOINT_EVENT_TYPES: tuple[str, ...] = (
    "step.started",
    "step.completed",
    "step.failed",
    "file.changed",
    "error.recorded",
    "context.feedback",
    "task_profile.revised",
    "correction.recorded",
    "request.received",
)

#: The fields of a checkpoint that hold a text each, in their order, with the type and the payload field of
#: the event that it becomes.
CHECKPOINT_TEXTS: dict[str, tuple[str, ...]] = {
    "currentGoal": ("step.started", "goal"),
    "currentStep": ("step.started", "step"),
}

#: The same of the fields that hold lists of texts; each text becomes an event.
CHECKPOINT_LISTS: dict[str, tuple[str, ...]] = {
    "changedPaths": ("file.changed", "path"),
    "errorSignatures": ("error.recorded", "signature"),
    "unresolvedItems": ("correction.recorded", "unresolved"),
}

#: The type and the payload field of the event that a revised profile becomes.
CHECKPOINT_REVISION: tuple[str, ...] = ("task_profile.revised", "profile")

#: The type of the event that a judgement of a delivered entry becomes; its payload is the judgement.
CHECKPOINT_FEEDBACK: str = "context.feedback"

#: What the envelope names where no operation of a run is meant: a path that does not exist, the probe, and a
#: request that cannot be read.
DOOR_OPERATIONS: dict[str, str] = {
    "unknown": "api.v1",
    "ready": "health.ready",
    "unreadable": "server.request",
}
