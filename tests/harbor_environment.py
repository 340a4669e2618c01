"""An environment for the real Harbor where no container engine is: bubblewrap as root over folders of its own.

Loaded by Harbor's Python (`--env harbor_environment:Scratch`), not by the tests'. It builds no Dockerfile: it does what
the Dockerfiles of a bundle do to the repository. REGRADE_BWRAP names bubblewrap, REGRADE_PYTHONS the folders that
interpreters need.
"""

import asyncio
import os
import shutil
import subprocess
import tarfile
from pathlib import Path

from harbor.environments.base import BaseEnvironment, ExecResult
from harbor.environments.capabilities import EnvironmentCapabilities

USERS = {"agent": 61124, "verifier": 61123}
FOLDERS = ("app", "tests", "opt", "logs", "solution", "tmp")


class Scratch(BaseEnvironment):
    """One image's root: /app, /tests, /opt, /logs, /solution and /tmp are folders, the rest is the machine's own."""

    @staticmethod
    def type() -> str:
        return "scratch"

    @property
    def capabilities(self) -> EnvironmentCapabilities:
        return EnvironmentCapabilities(
            disable_internet=True,
            network_allowlist=True,
            network_allowlist_hostnames=True,
            dynamic_network_policy=True,
        )

    def _validate_definition(self) -> None:
        pass

    async def set_network_policy(self, network_policy: object) -> None:
        pass

    async def start(self, force_build: bool) -> None:
        self.root = self.trial_paths.trial_dir.resolve() / f"root-{self.session_id}-{self.environment_dir.name}"
        for name in FOLDERS:
            (self.root / name).mkdir(parents=True)
        (self.root / "tmp").chmod(0o1777)
        (self.root / "opt/selfbench").mkdir()
        app = self.root / "app"
        with tarfile.open(self.environment_dir / "repo.tar.gz") as archive:
            archive.extractall(app, filter="data")
        who = ["-c", "user.name=x", "-c", "user.email=x@localhost"]
        for words in (["init", "-q"], ["add", "-Af"], [*who, "commit", "-qm", "base"]):
            subprocess.run(["git", *words], cwd=app, check=True)
        is_verifier = (self.environment_dir / "test.sh").exists()
        if is_verifier:
            for name in ("test.sh", "test.patch"):
                shutil.copy2(self.environment_dir / name, self.root / "tests" / name)
        else:
            shutil.copytree(app / ".git", self.root / "opt/selfbench/base.git", symlinks=True)
        uid = USERS["verifier" if is_verifier else "agent"]
        subprocess.run(["chown", "-R", f"{uid}:{uid}", app], check=True)
        for name, line in (("passwd", "{0}:x:{1}:{1}::/tmp:/bin/bash\n"), ("group", "{0}:x:{1}:\n")):
            text = Path("/etc", name).read_text() + "".join(line.format(*user) for user in USERS.items())
            (self.root / name).write_text(text)
        await self.exec("mkdir -p /logs/verifier /logs/agent /logs/artifacts; chmod 777 /logs/*")

    async def stop(self, delete: bool) -> None:
        shutil.rmtree(self.root, ignore_errors=True)

    def _place(self, path: str | Path) -> Path:
        return self.root / str(path).lstrip("/")

    async def upload_file(self, source_path: Path | str, target_path: str) -> None:
        self._place(target_path).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(source_path, self._place(target_path))

    async def upload_dir(self, source_dir: Path | str, target_dir: str) -> None:
        shutil.copytree(source_dir, self._place(target_dir), dirs_exist_ok=True, symlinks=True)

    async def download_file(self, source_path: str, target_path: Path | str) -> None:
        Path(target_path).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(self._place(source_path), target_path)

    async def download_dir(self, source_dir: str, target_dir: Path | str) -> None:
        shutil.copytree(self._place(source_dir), target_dir, dirs_exist_ok=True, symlinks=True)

    async def exec(
        self,
        command: str,
        cwd: str | None = None,
        env: dict[str, str] | None = None,
        timeout_sec: int | None = None,
        user: str | int | None = None,
    ) -> ExecResult:
        user = user or self.default_user or "root"
        words = [*self._words(cwd or "/app", env or {}), "bash", "-c", command]
        if user != "root":
            words[-3:-3] = ["setpriv", f"--reuid={user}", f"--regid={user}", "--init-groups"]
        done = await asyncio.to_thread(subprocess.run, words, capture_output=True, timeout=timeout_sec)
        return ExecResult(
            stdout=done.stdout.decode(errors="replace"), stderr=done.stderr.decode(errors="replace"),
            return_code=done.returncode,
        )  # fmt: skip

    def _words(self, cwd: str, env: dict[str, str]) -> list[str]:
        words = [os.environ["REGRADE_BWRAP"], "--unshare-pid", "--unshare-net", "--cap-add", "ALL", "--die-with-parent"]
        words += [
            "--clearenv",
            "--proc",
            "/proc",
            "--dev",
            "/dev",
            "--ro-bind",
            "/usr",
            "/usr",
            "--ro-bind",
            "/etc",
            "/etc",
        ]
        for name in ("bin", "sbin", "lib", "lib64"):
            link = Path("/", name)
            if link.is_symlink():
                words += ["--symlink", os.readlink(link), str(link)]
            elif link.is_dir():
                words += ["--ro-bind", str(link), str(link)]
        for name in ("passwd", "group"):
            words += ["--ro-bind", str(self.root / name), os.path.realpath(f"/etc/{name}")]
        for path in os.environ["REGRADE_PYTHONS"].split(os.pathsep):
            for parent in list(reversed(Path(path).parents))[1:]:
                words += ["--perms", "0755", "--dir", str(parent)]
            words += ["--ro-bind", path, path]
        for name in FOLDERS:
            words += ["--bind", str(self.root / name), f"/{name}"]
        for name, value in {"PATH": "/usr/local/bin:/usr/bin:/bin", "HOME": "/tmp", **env}.items():
            words += ["--setenv", name, value]
        return [*words, "--chdir", cwd, "--"]
