"""Program that fetches the files of a ModelCache into its claim, as text: a Job passes it to `python3 -c`.

It is a text because the image of the pod is not ours: any image with Python and huggingface_hub runs it. What an author
writes reaches it as arguments, never as a part of it, and it starts no shell. The kubelet expands `$(NAME)` in commands
and arguments, so the text has none.

Arguments: mode (resolve, stage), URI, revision, folder of the claim, key, and JSON lists of the patterns to take and
to leave out. `resolve` asks the hub for the commit of a revision, once for a claim. The commit is kept beside the
files, so that a pod that starts again never goes on with a later one; it is the termination message too. `stage`
fetches, and goes on where an earlier pod has stopped. What another attempt cannot mend has an exit code of its own
(`EXITS`).
Source: huggingface_hub 0.32 (which continues a file where it was cut off) and 2.4 (which begins that file again);
kserve_storage 0.20.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple


class Exit(NamedTuple):
    """The meaning of an exit code: a reason, and what would change it."""

    reason: str
    message: str


DENIED, NO_REPOSITORY, NO_REVISION, NO_ROOM, NO_FILES = 64, 65, 66, 67, 68
EXITS: Mapping[int, Exit] = MappingProxyType(
    {
        DENIED: Exit(
            "AccessDenied",
            "the source refuses the credentials: accept the terms of a gated repository, or correct the token in the "
            "Secret",
        ),
        NO_REPOSITORY: Exit(
            "SourceNotFound",
            "the source does not exist, or is private and the token does not open it: correct spec.source or the "
            "Secret",
        ),
        NO_REVISION: Exit(
            "RevisionNotFound", "the repository has no such revision: correct spec.source.huggingFace.revision"
        ),
        NO_ROOM: Exit("NoSpace", "the files do not fit into the claim: raise spec.size"),
        NO_FILES: Exit("NothingSelected", "no file of the source matches the patterns: correct include and exclude"),
    }
)
"""The exit codes after which no further pod is started."""

TEXT = """\
import errno, json, os, shutil, sys
MODE, URI, REVISION, ROOT, KEY, TAKE, LEAVE = sys.argv[1:]
SCHEME, REPO = URI.split("://", 1)
NOTE, FOLDER = os.path.join(ROOT, KEY + ".commit"), os.path.join(ROOT, KEY)
TAKE, LEAVE = json.loads(TAKE) or None, json.loads(LEAVE) or None
MESSAGE = os.environ.get("MODELPLANE_TERMINATION_LOG", "/dev/termination-log")

def end(code, text):
    print(text, file=sys.stderr, flush=True)
    sys.exit(code)

def noted():
    try:
        with open(NOTE) as file:
            return file.read().strip()
    except FileNotFoundError:
        return ""

def resolve():
    commit = noted()
    if not commit:
        from huggingface_hub import HfApi
        commit = HfApi().model_info(REPO, revision=REVISION).sha
        with open(NOTE + ".new", "w") as file:
            file.write(commit)
        os.replace(NOTE + ".new", NOTE)
    with open(MESSAGE, "w") as file:
        file.write(commit)
    print(f"{URI}@{REVISION} is commit {commit}", flush=True)

def there():
    found = 0
    for folder, _, names in os.walk(FOLDER):
        for name in names:
            try:
                found += os.lstat(os.path.join(folder, name)).st_size
            except FileNotFoundError:
                pass
    return found

def sweep():
    # The client of 2.x gives each attempt a file of its own and never goes on with one that a killed pod has left.
    for folder, _, names in os.walk(FOLDER):
        for name in names:
            if name.endswith(".incomplete") and name.count(".") > 2:
                os.remove(os.path.join(folder, name))

def fetch_repository():
    from huggingface_hub import HfApi, snapshot_download
    from huggingface_hub.utils import filter_repo_objects
    commit = noted() or REVISION
    files = HfApi().model_info(REPO, revision=commit, files_metadata=True).siblings or []
    chosen = list(filter_repo_objects(files, allow_patterns=TAKE, ignore_patterns=LEAVE, key=lambda one: one.rfilename))
    if not chosen:
        end(68, f"none of the {len(files)} files of {REPO} matches the patterns")
    sweep()
    lacks = sum(one.size or 0 for one in chosen) - there()
    free = shutil.disk_usage(ROOT).free
    if lacks > free:
        end(67, f"{lacks} bytes are to be fetched, and the volume has {free} left")
    print(f"fetching {len(chosen)} files of {REPO}@{commit}, {max(lacks, 0)} bytes", flush=True)
    snapshot_download(REPO, revision=commit, local_dir=FOLDER, allow_patterns=TAKE, ignore_patterns=LEAVE)

def fetch():
    os.makedirs(FOLDER, exist_ok=True)
    if SCHEME == "hf":
        fetch_repository()
    else:
        from kserve_storage import Storage
        Storage.download(URI, FOLDER)
    print(f"{URI} is complete", flush=True)

def causes(error):
    while error is not None:
        yield error
        error = error.__cause__ or error.__context__

def code_of(error):
    for one in causes(error):
        name, status = type(one).__name__, getattr(getattr(one, "response", None), "status_code", None)
        if getattr(one, "errno", None) in (errno.ENOSPC, errno.EDQUOT) or "No space left" in str(one):
            return 67
        if name == "GatedRepoError" or status in (401, 403) and name != "RepositoryNotFoundError":
            return 64
        if name == "RepositoryNotFoundError" or name == "NoSuchBucket":
            return 65
        if name == "RevisionNotFoundError":
            return 66
        if name == "ClientError" and one.response.get("Error", {}).get("Code") in ("403", "AccessDenied"):
            return 64
    return 1

try:
    resolve() if MODE == "resolve" else fetch()
except Exception as error:
    end(code_of(error), f"{type(error).__name__}: {error}")
"""
