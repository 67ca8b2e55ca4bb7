/**
 * Who wrote a skill: the program, the person, an author of a package or of the project. What the last two say is text of a stranger, and is shown
 * as such.
 */
export type SkillOrigin = 'code' | 'home' | 'package' | 'project'

/** A skill of a program: instructions without files. */
export interface SkillDefinition {
  /** 1 to 64 lower-case letters, digits and `-`. */
  readonly name: string
  /** What it is for and when to use it, for the model that loads it. */
  readonly description: string
  /** What an agent is told that loads it. */
  readonly instructions: string
  /** Tools by canonical or familiar name, some with a bound, such as `Bash(git:*)`. Default: no tool is left out. */
  readonly allowedTools?: readonly string[]
  /** Tools that are left out; with a bound, calls that are denied. */
  readonly disallowedTools?: readonly string[]
}

/** A part of a rule of the policy: which calls it is about. Every field that is present must match. */
export interface SkillRule {
  readonly id: string
  readonly effect: 'allow' | 'deny'
  readonly tools?: readonly string[]
  readonly resources?: readonly string[]
  readonly commands?: readonly string[]
  readonly input?: { readonly [field: string]: string }
}

/** What a skill leaves of the calls of a session. It takes away and asks; it lets nothing through. */
export interface SkillNarrowing {
  /** Canonical names or patterns; absent: all. */
  readonly allowed?: readonly string[]
  /** Canonical names or patterns; beats `allowed`. */
  readonly disallowed?: readonly string[]
  /** Tools of which every call asks that no rule of `within` covers. */
  readonly bounded?: readonly string[]
  readonly within?: readonly SkillRule[]
  /** Calls that are denied. */
  readonly denied?: readonly SkillRule[]
}

/** A skill that can be loaded. */
export interface Skill {
  readonly name: string
  readonly description: string
  readonly instructions: string
  readonly origin: SkillOrigin
  readonly narrowing: SkillNarrowing
  /** Whether a model may load it. If not, only a person uses it. */
  readonly forModels: boolean
  readonly license?: string
  /** What it needs of its surroundings, in words. */
  readonly compatibility?: string
  readonly metadata?: Readonly<Record<string, string>>
  /** The name of its package. */
  readonly package?: string
  /** Its folder, absolute and with links resolved. */
  readonly folder?: string
  /** Absolute path of its `SKILL.md`. */
  readonly file?: string
}

/** What is wrong with a skill, or with a field of it. */
export interface SkillIssue {
  /** Absolute path. Absent for a skill of a program. */
  readonly file?: string
  /** From 1 on. */
  readonly line?: number
  readonly field?: string
  /** What is wrong with which thing, and what to do. */
  readonly message: string
  /** Whether the skill is left out for it; if not, only what the message names is. */
  readonly leftOut: boolean
}

/** The skills of a project, in order of their names, and what is wrong with others. */
export interface SkillList {
  readonly skills: readonly Skill[]
  readonly issues: readonly SkillIssue[]
}

/** A file of a skill. */
export interface SkillFile {
  /** Relative to the folder of the skill. */
  readonly path: string
  readonly bytes: number
}

/** A skill with all that its folder holds. */
export interface SkillContents {
  /** Names the skill as a whole: its `SKILL.md` and each of its files. */
  readonly digest: string
  readonly files: readonly SkillFile[]
}

/** A skill as it was loaded: where its files lie for the calls of one tenant. */
export interface SkillCopy extends SkillContents {
  /** A copy of its folder, which no tool writes. Absent for a skill without files. */
  readonly copy?: string
}

/** The skills that there are. Hand it to `createRuntime` as the service `skillRegistry`. */
export interface SkillRegistry {
  /** As the files are at this moment. `project` is the absolute path of a project, whose own skills are among them. */
  list(project?: string): Promise<SkillList>
  /** Undefined if none has this name. */
  find(name: string, project?: string): Promise<Skill | undefined>
  /** Reads all files of a skill. Rejects with a `ToolFailure` (`skill_unusable`) if its folder cannot be taken as it is. */
  read(skill: Skill): Promise<SkillContents>
  /** Puts a copy of its files where calls of the tenant may read them while they follow it. Rejects as `read` does. */
  open(skill: Skill, tenant: string): Promise<SkillCopy>
  /** Whether a copy still is what the digest names. */
  isIntact(skill: Pick<LoadedSkill, 'name' | 'digest' | 'copy'>): boolean
}

/** A skill that a session follows. */
export interface LoadedSkill {
  readonly name: string
  readonly origin: SkillOrigin
  readonly digest: string
  readonly narrowing: SkillNarrowing
  /** Where its files came from. */
  readonly folder?: string
  /** Where they lie for the calls of the session. */
  readonly copy?: string
}

/** What a session makes of a skill that a call loads. */
export interface LoadedNow {
  readonly skill: Skill
  readonly loaded: LoadedSkill
  readonly files: readonly SkillFile[]
  /** Whether the session followed another version of it before. */
  readonly changed: boolean
}

/** The skills of the session of a call. */
export interface Skills {
  /** Those that there are in the project. */
  list(): Promise<SkillList>
  /** Those that the session follows, with those of the sessions above. */
  loaded(): readonly LoadedSkill[]
  /** Names of the tools that the session has. */
  tools(): readonly string[]
  /**
   * Loads one, which narrows the session from the next call on. Rejects with a `ToolFailure`: `unknown_skill`, `skill_unusable`, `skill_not_for_models`,
   * `too_many_skills`; also if the store does not keep it.
   */
  load(name: string): Promise<LoadedNow>
  /** Follows one that was loaded in a run that is replayed: its files are not read again. */
  follow(loaded: LoadedSkill): Promise<void>
}
