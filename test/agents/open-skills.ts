import { join } from 'node:path'
import { codeTools, type Runtime, type RuntimeOptions, type Session } from 'handrail'
import { createSkillRegistry } from 'handrail/agents'
import { skillTools } from 'handrail/tools'
import { makeFolder, openRuntime } from '../support/project.ts'

/** A skill that uses git and reads, with a program of its own. */
export const commit = {
  'commit/SKILL.md':
    '---\nname: commit\ndescription: Makes commits.\nallowed-tools: Bash(git:*) Read\n---\nUse ${CLAUDE_SKILL_DIR}/say.sh for $ARGUMENTS.',
  'commit/say.sh': '#!/bin/sh\necho "said $1"\n',
}
/** Skills with other tools, or none. */
export const others = {
  'look/SKILL.md': '---\nname: look\ndescription: Looks.\nallowed-tools: Read Grep\n---\nLook.',
  'free/SKILL.md': '---\nname: free\ndescription: Names no tools.\n---\nDo it.',
  'careful/SKILL.md':
    '---\nname: careful\ndescription: Never pushes.\ndisallowed-tools: Bash(git push:*) Write\n---\nDo not push.',
  'mine/SKILL.md': '---\nname: mine\ndescription: For people.\ndisable-model-invocation: true\n---\nDeploy.',
}

export const anyTool = {
  rules: [
    {
      id: 'all',
      effect: 'allow' as const,
      tools: ['code.*'],
      resources: ['handrail:file:**', 'handrail:exec:**'],
    },
  ],
}

/** A runtime over a home with these skills, and over a project. */
export async function openSkills(
  {
    home = { ...commit, ...others },
    project = {},
  }: { home?: Record<string, string>; project?: Record<string, string> } = {},
  options: RuntimeOptions = {},
): Promise<{ runtime: Runtime; home: string; project: string }> {
  const places = {
    home: makeFolder(
      Object.fromEntries(Object.entries(home).map(([path, text]) => [join('skills', path), text])),
    ),
    project: makeFolder({ 'a.txt': 'alpha\n', ...project }),
  }
  const runtime = await openRuntime({
    project: places.project,
    tools: [codeTools(), skillTools()],
    services: { skillRegistry: createSkillRegistry({ home: places.home }) },
    sandbox: 'host',
    store: 'memory',
    ...options,
  })
  return { runtime, ...places }
}

interface Loaded {
  folder: string
  digest: string
  tools: string[]
  changed: boolean
  loaded: string[]
}

/** Loads a skill, which has to go well. */
export async function load(session: Session, name: string, args?: string) {
  const result = await session.call('internal.load_skill', { name, ...(args !== undefined && { args }) })
  if (!result.ok) throw new Error(`${result.error?.reason}: ${result.error?.message}`)
  const text = result.content.map((block) => (block.type === 'text' ? block.text : '')).join('\n')
  return { ...(result.data as unknown as Loaded), text }
}

/** How a command would be decided: the effect, and the layer and rule. */
export async function decided(session: Session, argv: readonly string[]): Promise<string> {
  const { effect, decision, error } = await session.preflight('code.run_command', { argv: [...argv] })
  return `${decision?.effect ?? effect} by ${decision === undefined ? error?.reason : `${decision.layer}/${decision.rule}`}`
}
