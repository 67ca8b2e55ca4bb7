import type { Place, PlaceOption } from './completion-places.ts'

/** Writes the script of one shell. */
export type Shell = (places: readonly Place[]) => string

/** The verbs of each group, by which the words on the line are read. */
function groupsOf(places: readonly Place[]): [name: string, verbs: string[]][] {
  const names = [...new Set(places.filter(({ path }) => path.length === 2).map(({ path }) => path[0] ?? ''))]
  return names.map((name) => [
    name,
    places.flatMap(({ path: [first, verb] }) => (first === name && verb !== undefined ? [verb] : [])),
  ])
}

/** The words of a line up to the cursor, as `command` and `verb`, in bash and zsh alike. */
function readLine(places: readonly Place[], words: string): string[] {
  return [
    `  for word in "${words}"; do`,
    '    case "$command $word" in',
    ...groupsOf(places).map(
      ([name, verbs]) =>
        `      ${verbs.map((verb) => quote(`${name} ${verb}`)).join('|')}) verb=$word; break ;;`,
    ),
    '    esac',
    '  done',
  ]
}

const quote = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`

const keyOf = ({ path }: Place): string => quote(path.join(' '))

function optionNames({ name, short }: PlaceOption): string[] {
  return [`--${name}`, ...(short === undefined ? [] : [`-${short}`])]
}

/** Options whose value is completed in another way than by words: the patterns of the lines on which they stand. */
function valueCases(place: Place, act: (option: PlaceOption) => string): string[] {
  return place.options
    .filter(({ value }) => value !== undefined)
    .map((option) => {
      const patterns = optionNames(option).map((name) => quote(`${[...place.path, name].join(' ')}`))
      return `    ${patterns.join('|')}) ${act(option)}; return ;;`
    })
}

/** For bash. */
export const toBash: Shell = (places) =>
  page([
    '# Completion of handrail for bash: source it in ~/.bashrc.',
    '_handrail() {',
    '  local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} command= verb= word place list',
    '  COMPREPLY=()',
    '  if ((COMP_CWORD > 1)); then command=${COMP_WORDS[1]}; fi',
    ...readLine(places, '${COMP_WORDS[@]:2:COMP_CWORD-2}'),
    '  place=$command${verb:+ $verb}',
    '  case "$place $prev" in',
    ...places.flatMap((place) =>
      valueCases(place, ({ value }) => {
        if (typeof value === 'object') return `COMPREPLY=($(compgen -W ${quote(value.join(' '))} -- "$cur"))`
        return value === 'file' ? 'COMPREPLY=($(compgen -f -- "$cur"))' : 'COMPREPLY=()'
      }),
    ),
    '  esac',
    '  case "$place" in',
    ...places.map((place) => {
      const words = place.words.map(([word]) => word).join(' ')
      const options = place.options.flatMap(optionNames).join(' ')
      return `    ${keyOf(place)}) if [[ $cur == -* ]]; then list=${quote(options)}; else list=${quote(words)}; fi ;;`
    }),
    '    *) return ;;',
    '  esac',
    '  COMPREPLY=($(compgen -W "$list" -- "$cur"))',
    '}',
    'complete -o default -F _handrail handrail',
  ])

/** For zsh. */
export const toZsh: Shell = (places) =>
  page([
    '#compdef handrail',
    '# Completion of handrail for zsh: source it in ~/.zshrc, after compinit.',
    '_handrail() {',
    '  local command= verb= word place cur=${words[CURRENT]} prev=${words[CURRENT-1]}',
    '  local -a list',
    '  if ((CURRENT > 2)); then command=${words[2]}; fi',
    ...readLine(places, '${(@)words[3,CURRENT-1]}'),
    '  place=$command${verb:+ $verb}',
    '  case "$place $prev" in',
    ...places.flatMap((place) =>
      valueCases(place, ({ value }) => {
        if (typeof value === 'object') return `compadd -- ${value.join(' ')}`
        return value === 'file' ? '_files' : "_message 'a value'"
      }),
    ),
    '  esac',
    '  case "$place" in',
    ...places.map((place) => {
      const words = place.words.map(([word, about]) => described(word, about))
      const options = place.options.flatMap((option) =>
        optionNames(option).map((name) => described(name, option.about)),
      )
      return `    ${keyOf(place)}) if [[ $cur == -* ]]; then list=(${options.join(' ')}); else list=(${words.join(' ')}); fi ;;`
    }),
    '  esac',
    "  if ((${#list})); then _describe 'handrail' list; else _files; fi",
    '}',
    'compdef _handrail handrail',
  ])

/** A colon parts a word from what is said of it. */
function described(word: string, about: string): string {
  const shown = about === '' ? word : `${word}:${about.replaceAll(':', '\\:')}`
  return quote(shown)
}

/** For fish. */
export const toFish: Shell = (places) =>
  page([
    '# Completion of handrail for fish: save it as ~/.config/fish/completions/handrail.fish.',
    ...places.flatMap((place) => {
      const start = `complete -c handrail -n ${fishQuote(toCondition(place, places))}`
      return [
        ...place.words.map(([word, about]) => `${start} -f -a ${word}${toAbout(about)}`),
        ...place.options.map((option) => `${start} -l ${option.name}${toFishOption(option)}`),
      ]
    }),
  ])

function toCondition({ path: [name, verb] }: Place, places: readonly Place[]): string {
  if (name === undefined) return '__fish_use_subcommand'
  const isNamed = `__fish_seen_subcommand_from ${name}`
  if (verb !== undefined) return `${isNamed}; and __fish_seen_subcommand_from ${verb}`
  const [, verbs = []] = groupsOf(places).find(([group]) => group === name) ?? []
  return verbs.length === 0 ? isNamed : `${isNamed}; and not __fish_seen_subcommand_from ${verbs.join(' ')}`
}

function toFishOption({ short, about, value }: PlaceOption): string {
  const letter = short === undefined ? '' : ` -s ${short}`
  if (value === undefined) return `${letter}${toAbout(about)}`
  if (value === 'file') return `${letter} -r -F${toAbout(about)}`
  return `${letter} -x${value === 'any' ? '' : ` -a ${fishQuote(value.join(' '))}`}${toAbout(about)}`
}

function toAbout(about: string): string {
  return about === '' ? '' : ` -d ${fishQuote(about)}`
}

function fishQuote(text: string): string {
  return `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`
}

function page(lines: readonly string[]): string {
  return `${lines.join('\n')}\n`
}
