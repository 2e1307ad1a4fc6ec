/**
 * Builds and runs the image of the Containerfile without a container engine. Each stage is a copy-on-write view of this machine (overlayfs in
 * a mount namespace) that stands for the base image; its steps run in it unchanged. Needs root, Node.js and npm.
 */
import { spawnSync } from "node:child_process";
import { projectText } from "../../src/base/project-files.ts";

/** One instruction, its continued lines joined: `COPY`, `bin bin`. */
export interface Instruction {
  readonly name: string;
  readonly text: string;
}

export const instructions: readonly Instruction[] = projectText("Containerfile")
  .replaceAll(/^#.*\n/gm, "")
  .replaceAll(/\\\n\s*/g, "")
  .split("\n")
  .filter((line) => line !== "")
  .map((line) => {
    const [name = "", text = ""] = line.split(/ (.*)/);
    return { name, text };
  });

/** Returns the text of the last instruction of a name, which is that of the final stage. */
export function finalInstruction(name: string): string {
  const text = instructions.findLast((instruction) => instruction.name === name)?.text;
  if (text === undefined) throw new Error(`The Containerfile has no ${name}.`);
  return text;
}

/** Returns the words of a final instruction in exec form. */
export const execForm = (name: string): readonly string[] =>
  JSON.parse(finalInstruction(name).replace(/^[^[]*/, "")) as readonly string[];

const quote = (word: string): string => `'${word.replaceAll("'", "'\\''")}'`;

/** Mounts the view `$images/<name>/root`, whose changes are in `$images/<name>/upper`. */
const stageFunction = `stage() {
  mkdir -p "$images/$1/upper" "$images/$1/work" "$images/$1/root"
  mount -t overlay overlay -o "lowerdir=/,upperdir=$images/$1/upper,workdir=$images/$1/work" "$images/$1/root"
  mount --rbind /dev "$images/$1/root/dev"
  mount --rbind /proc "$images/$1/root/proc"
}`;

/** Returns the shell command of an instruction in a stage; undefined if it does nothing at build time. */
function stepOf({ name, text }: Instruction, root: string, folder: string): string | undefined {
  if (name === "WORKDIR") return `mkdir -p ${root}${text}`;
  if (name === "RUN") return `chroot ${root} sh -c ${quote(`cd ${folder} && ${text}`)}`;
  if (name !== "COPY") return undefined;
  const [, from, words = ""] = /^(?:--from=(\w+) )?(.*)$/.exec(text) ?? [];
  const sources = words.split(" ").slice(0, -1);
  const target = words.split(" ").at(-1) ?? "";
  const origin = from === undefined ? '"$context"' : `"$images/${from}/root"`;
  const destination = `${root}${target.startsWith("/") ? target : `${folder}/${target}`}`;
  const copied = sources.map((path) => `${origin}/${path}`).join(" ");
  return `mkdir -p "$(dirname ${destination})" && cp -r ${copied} ${destination}`;
}

/** The shell commands that build the image from `$context` below `$images`. */
function buildSteps(): readonly string[] {
  const steps: string[] = [stageFunction];
  let root = "";
  let folder = "/";
  for (const instruction of instructions) {
    const { name, text } = instruction;
    if (name === "FROM") {
      const stage = /AS (\w+)$/.exec(text)?.[1] ?? "final";
      root = `"$images/${stage}/root"`;
      folder = "/";
      steps.push(`stage ${stage}`);
    }
    if (name === "WORKDIR") folder = text;
    steps.push(stepOf(instruction, root, folder) ?? "");
  }
  return steps.filter((step) => step !== "");
}

/**
 * Returns a script that builds the image and runs a command in it: as the user of the image, its root read only, with the folder `$volume`
 * instead of its volume and with an empty /tmp.
 */
export function imageScript(command: string): string {
  const volume = finalInstruction("VOLUME");
  const user = finalInstruction("USER");
  const environment = finalInstruction("ENV").split(" ").map(quote).join(" ");
  const [uid, gid] = user.split(":");
  return [
    "set -eu",
    ...buildSteps(),
    'root="$images/final/root"',
    `cp -a "$root${volume}/." "$volume" && chown ${user} "$volume" && mount --bind "$volume" "$root${volume}"`,
    'mount -t tmpfs tmpfs "$root/tmp"',
    'mount -o remount,ro "$root"',
    `exec chroot "$root" env -i PATH="$PATH:/usr/local/bin" ${environment} "CARQUET_PORT=$port" \
      setpriv --reuid ${uid} --regid ${gid} --clear-groups sh -c ${quote(`cd ${finalInstruction("WORKDIR")} && ${command}`)}`,
  ].join("\n");
}

/** Returns why the image cannot be built here; false if it can. */
export function whyNoImage(): string | false {
  if (process.platform !== "linux" || process.getuid?.() !== 0) return "needs root on Linux";
  const probe = `t=$(mktemp -d) && mount -t tmpfs tmpfs $t && mkdir $t/u $t/w $t/r && mount -t overlay overlay -o lowerdir=/,upperdir=$t/u,workdir=$t/w $t/r && setpriv --reuid 1000 true`;
  const { status } = spawnSync("unshare", ["--mount", "sh", "-c", probe]);
  return status === 0 ? false : "needs overlayfs, mount namespaces and setpriv";
}
