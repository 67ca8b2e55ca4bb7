import type { Effect } from '../../contract/policy.ts'
import { nearestNames } from '../../kit/text/nearest-names.ts'
import { readCommandPattern } from '../../kit/shell/command-pattern.ts'
import {
  changeTools,
  editTools,
  expandNames,
  knownNames,
  findKnownTool,
  readTools,
  runTools,
  type KnownTool,
} from '../../kit/match/known-tools.ts'
import type { Translation } from './imported-rules.ts'
import type { RuleText } from './read-rule-text.ts'
import { translatePath, type PathPlaces } from './translate-path.ts'

/** What is known of a rule beside its text. */
export interface RuleSetting {
  effect: Effect
  places: PathPlaces
}

type Asked = RuleSetting & { name: string; specifier: string }

/** What a rule comes to here: exactly the same, or, where that cannot be, an allow less and a deny or an ask more. */
export function translateRule({ tool: name, specifier, flaw }: RuleText, about: RuleSetting): Translation {
  const { effect } = about
  if (name === '') return { difference: flaw ?? 'it names no tool' }
  const whole = translateName(name, effect)
  if (flaw !== undefined) return effect === 'allow' ? { difference: flaw } : ofWhole(whole, flaw)
  if (whole.match === undefined || specifier === undefined) return whole
  const known = findKnownTool(name)
  if (specifier === '*' && (effect !== 'allow' || known?.kind === 'command')) return whole
  const precise = translateSpecifier(known, { ...about, name, specifier })
  if (precise.match !== undefined || effect === 'allow') return precise
  return ofWhole(whole, precise.difference ?? 'its specifier means nothing here')
}

/** Where a specifier cannot be taken over, a deny or an ask holds for the tool as a whole. */
function ofWhole({ match, difference }: Translation, reason: string): Translation {
  if (match === undefined) return { difference: difference ?? reason }
  return { match, difference: `${reason}, so it holds for every call of the tool` }
}

function translateName(name: string, effect: Effect): Translation {
  if (name.startsWith('mcp__')) return translateServer(name, effect)
  if (name.includes('*')) {
    if (effect === 'allow') return { difference: 'an allow names its tool, without "*"' }
    const tools = expandNames(name)
    return tools.length === 0 ? { difference: `no tool is called "${name}"` } : { match: { tools } }
  }
  const known = findKnownTool(name)
  if (known === undefined) return { difference: describeUnknown(name) }
  if (known.tools === editTools && effect !== 'allow') return { match: { tools: changeTools } }
  if (known.kind !== 'command' || effect !== 'allow') return { match: { tools: known.tools } }
  return {
    match: { tools: known.tools, commands: ['*'] },
    difference:
      'commands that cannot be read for sure, that are redirected to a file, or that run others are still asked for',
  }
}

function describeUnknown(name: string): string {
  const [nearest] = nearestNames(name, knownNames(), 1)
  return `no tool is called "${name}"${nearest === undefined ? '' : `; perhaps "${nearest}" is meant`}`
}

/** `mcp__server`, `mcp__server__tool` */
function translateServer(name: string, effect: Effect): Translation {
  const given = name.slice('mcp__'.length).replace(/__\*?$/, '')
  const readings = [...given.matchAll(/(?<=[^_])__(?=.)/g)].map(
    ({ index }) => `mcp.${given.slice(0, index)}.${given.slice(index + 2)}`,
  )
  const whole = `mcp.${given}.*`
  if (given === '') return { difference: 'it names no server' }
  // The name of a server may itself have "__" in it: a deny or an ask holds for it in each way, an allow in the usual one.
  if (effect !== 'allow') return { match: { tools: [...readings, whole] } }
  const [tool = whole] = readings
  return /^mcp\.[^*]+?\./.test(tool)
    ? { match: { tools: [tool] } }
    : { difference: 'an allow names its server, without "*"' }
}

function translateSpecifier(known: KnownTool | undefined, asked: Asked): Translation {
  switch (known?.kind) {
    case 'command':
      return translateCommand(asked)
    case 'path':
      return translateFiles(known, asked)
    case 'host':
      return translateHost(known, asked)
    case 'field':
      return translateField(known, asked)
    default:
      return { difference: `"${asked.name}" takes no specifier here` }
  }
}

/** A deny or an ask holds for every tool that runs commands, an allow for the built-in ones. */
function translateCommand({ effect, specifier }: Asked): Translation {
  const commands = [specifier]
  if (effect === 'allow') return { match: { tools: runTools, commands } }
  const { redirects } = readCommandPattern(specifier)
  return {
    match: { commands },
    ...(redirects && { difference: 'files that are redirected to are not looked at, so it holds with any' }),
  }
}

function translateFiles(known: KnownTool, { effect, specifier, places, name }: Asked): Translation {
  const path = effect === 'allow' && specifier === '*' ? '**' : specifier
  const found = translatePath(path, effect, places)
  if (found.patterns === undefined) return { difference: found.reason }
  const resources = found.patterns.map((pattern) => `handrail:file:${pattern}`)
  const difference = found.difference === undefined ? {} : { difference: found.difference }
  if (effect === 'allow') {
    const below = resources.every((resource) => resource.endsWith('/**/*'))
    const tools = known.tools === readTools && !below ? ['code.read_file'] : known.tools
    return { match: { tools, resources }, ...difference }
  }
  if (name === 'Read')
    return {
      match: { resources },
      difference: 'it holds for every tool that reaches the files, to write too',
    }
  if (name === 'Write')
    return {
      match: { tools: changeTools, resources },
      difference: 'it holds for edits, copies, moves and deletions of the files too',
    }
  if (known.tools !== editTools) return { match: { tools: known.tools, resources }, ...difference }
  return {
    match: { tools: changeTools, resources },
    difference: found.difference ?? 'it holds for copies of the files to elsewhere too',
  }
}

function translateHost({ tools }: KnownTool, { effect, specifier }: Asked): Translation {
  const host = /^domain:(.+)$/.exec(specifier)?.[1]
  if (host === undefined) return { difference: 'only hosts can be named here, as "domain:example.com"' }
  if (effect === 'allow' || !host.replace(/^\*\./, '').includes('*'))
    return { match: { tools, resources: [`handrail:host:${host}`] } }
  return { difference: 'a "*" inside of a host stands for less here' }
}

function translateField(
  { tools, field = '', renamed }: KnownTool,
  { effect, specifier }: Asked,
): Translation {
  const [, key, value] = renamed === undefined ? [] : (/^([a-z]\w*):(.+)$/.exec(specifier) ?? [])
  if (key !== undefined && value !== undefined)
    return { match: { tools, input: { [renamed?.[key] ?? key]: value } } }
  if (renamed !== undefined) return { match: { tools, input: { [field]: specifier } } }
  const name = specifier.replace(/(?::| )\*$/, '')
  if (effect === 'allow' && name === specifier)
    return { difference: 'it cannot be held to calls without arguments' }
  return { match: { tools, input: { [field]: name } } }
}
