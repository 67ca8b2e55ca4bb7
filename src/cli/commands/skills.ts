import { openSkills } from '../setup/open-skills.ts'
import type {
  Skill,
  SkillContents,
  SkillIssue,
  SkillList,
  SkillRegistry,
} from '../../contract/services/skill.ts'
import { SetupError, ToolFailure } from '../../contract/base/errors.ts'
import { loadConfiguration } from '../../config/load-configuration.ts'
import { createSchemaChecker } from '../../schema/create-schema-checker.ts'
import { nearestNames } from '../../kit/text/nearest-names.ts'
import { shorten } from '../../kit/text/shorten.ts'
import { jsonOption } from '../arguments/caller.ts'
import type { CommandGroup, CommandLine } from '../base/command.ts'
import { exitCodes } from '../base/exit-codes.ts'
import { showLine, writeJson, writeText } from '../base/show-safely.ts'
import { findPlaces, type Places } from '../setup/wire.ts'

/** `handrail skills` */
export const skills: CommandGroup = {
  summary: 'Lists the skills that agents can load, and says what is wrong with their files.',
  otherwise: 'list',
  verbs: {
    list: {
      usage: '',
      summary: 'The skills of the project, and every skill that is left out.',
      more: 'They come from <home>/skills, from the packages that "skills.packages" of config.json names, and from .agents/skills and .claude/skills of the project. It ends with 2 if a skill is left out.',
      options: jsonOption,
      examples: ['handrail skills', 'handrail skills --json'],
      takes: 0,
      run: runList,
    },
    show: {
      usage: '<name>',
      summary: 'One skill: all that it says, its files and its digest.',
      options: jsonOption,
      examples: ['handrail skills show commit'],
      needs: 'Name the skill. "handrail skills" lists them.',
      takes: 1,
      run: runShow,
    },
    check: {
      usage: '',
      summary: 'Reads every file of every skill, and says all that is wrong or counts for nothing.',
      more: 'It ends with 2 if a skill is left out or cannot be loaded.',
      options: jsonOption,
      examples: ['handrail skills check'],
      takes: 0,
      run: runCheck,
    },
  },
}

function open(given: CommandLine): { registry: SkillRegistry; places: Places; isOn: boolean } {
  const places = findPlaces(given)
  const { configuration, notices } = loadConfiguration(places, createSchemaChecker())
  for (const notice of notices) process.stderr.write(`handrail: ${showLine(notice)}\n`)
  const isOn = configuration.toolGroups?.includes('skill') === true
  return { registry: openSkills(places, configuration.skills), places, isOn }
}

async function runList(given: CommandLine): Promise<number> {
  const { registry, places, isOn } = open(given)
  const list = await registry.list(places.project)
  if (given.options['json'] === true) writeJson(list)
  else writeText(process.stdout, toPage(list, isOn))
  return hasLeftOut(list.issues) ? exitCodes.usage : exitCodes.ok
}

function hasLeftOut(issues: readonly SkillIssue[]): boolean {
  return issues.some(({ leftOut }) => leftOut)
}

const longestRow = 80

function toPage({ skills: found, issues }: SkillList, isOn: boolean): string {
  const widest = Math.max(0, ...found.map(({ name }) => name.length))
  const rows = found.map(
    ({ name, origin, description }) =>
      `${name.padEnd(widest)}  ${origin.padEnd(7)}  ${shorten(description.replaceAll(/\s+/g, ' '), longestRow)}`,
  )
  const left = issues.filter(({ leftOut }) => leftOut)
  const notes = issues.length - left.length
  return `${[
    ...(rows.length === 0 ? ['There are no skills.'] : rows),
    ...left.map(describeIssue),
    ...(notes === 0 ? [] : [`${notes} more to know about them: handrail skills check`]),
    ...(isOn ? [] : ['No agent can load them: add "skill" to "toolGroups" in config.json.']),
  ].join('\n')}\n`
}

function describeIssue({ file = '', line, message, leftOut }: SkillIssue): string {
  return `${file}${line === undefined ? '' : `:${line}`}: ${message}${leftOut ? ' It is left out.' : ''}`
}

async function runShow(given: CommandLine): Promise<number> {
  const [name = ''] = given.positionals
  const { registry, places } = open(given)
  const list = await registry.list(places.project)
  const found = list.skills.find((skill) => skill.name === name)
  if (found === undefined) throw unknownSkill(name, list)
  const contents = await registry.read(found)
  if (given.options['json'] === true) writeJson({ ...found, ...contents })
  else writeText(process.stdout, toDetails(found, contents))
  return exitCodes.ok
}

function unknownSkill(name: string, { skills: known }: SkillList): SetupError {
  const names = known.map((each) => each.name)
  const [nearest] = nearestNames(name, names, 1)
  const hint = nearest === undefined ? '' : ` Did you mean "${nearest}"?`
  return new SetupError(
    'unknown_skill',
    `There is no skill "${showLine(name)}".${hint} "handrail skills" lists them, and says what is left out.`,
  )
}

function toDetails(skill: Skill, { digest, files }: SkillContents): string {
  const { description, instructions, narrowing, metadata, forModels, ...rest } = skill
  const { allowed = [], disallowed = [], bounded = [], within = [], denied = [] } = narrowing
  const facts: readonly (readonly [string, readonly string[]])[] = [
    ...Object.entries({ ...rest, ...metadata }).map(([field, value]) => [field, [value]] as const),
    ['digest', [digest]],
    ['tools', allowed],
    ['without', disallowed],
    ['asks', bounded.length === 0 ? [] : [`${bounded.join(', ')}, except ${describeRules(within)}`]],
    ['denies', denied.length === 0 ? [] : [describeRules(denied)]],
    ['for models', [forModels ? 'yes' : 'no']],
    ['files', files.map(({ path }) => path)],
  ]
  const rows = facts.flatMap(([field, values]) =>
    values.length === 0 ? [] : [`${field}: ${values.join(', ')}`],
  )
  return `${rows.join('\n')}\n\n${description}\n\n${instructions}\n`
}

function describeRules(rules: NonNullable<Skill['narrowing']['within']>): string {
  const described = rules.map(({ tools = [], commands = [], resources = [], input = {} }) => {
    const scope = [
      ...commands,
      ...resources,
      ...Object.entries(input).map(([field, text]) => `${field}=${text}`),
    ]
    return `${tools.join(' ')} (${scope.join(' ')})`.trim()
  })
  return described.length === 0 ? 'none' : described.join(', ')
}

async function runCheck(given: CommandLine): Promise<number> {
  const { registry, places } = open(given)
  const { skills: found, issues } = await registry.list(places.project)
  const unusable: SkillIssue[] = []
  for (const skill of found)
    try {
      await registry.read(skill)
    } catch (error) {
      if (!(error instanceof ToolFailure)) throw error
      unusable.push({ file: skill.file ?? '', message: error.message, leftOut: true })
    }
  const all = [...issues, ...unusable]
  const left = new Set(all.filter(({ leftOut }) => leftOut).map(({ file }) => file)).size
  const usable = found.length - unusable.length
  if (given.options['json'] === true) writeJson({ usable, leftOut: left, issues: all })
  else
    writeText(
      process.stdout,
      `${[...all.map(describeIssue), `${usable} can be loaded, ${left} cannot.`].join('\n')}\n`,
    )
  return left > 0 ? exitCodes.usage : exitCodes.ok
}
