import { median, named, p95, ratio, showFigure, type Group, type Reach } from '../bench/harness/report.ts'

/** A run of the bench, as it is kept. */
export interface KeptRun {
  /** Lines about the machine, the rounds and the versions. */
  readonly about: readonly string[]
  /** Day of the run, such as 2026-11-28. */
  readonly day: string
  /** Whether it had fewer and shorter rounds. */
  readonly quick: boolean
  /** The one row that was measured. Null: all of them. */
  readonly only: string | null
  readonly groups: readonly Group[]
  readonly reaches: readonly Reach[]
}

/** The page of the figures of a run. */
export function performancePage({ about, day, quick, only, groups, reaches }: KeptRun): string {
  const command = [
    'npm run bench --',
    ...(only === null ? [] : [`--only ${only}`]),
    ...(quick ? ['--quick'] : []),
  ]
  return [
    '# Performance',
    '',
    'Generated from `bench/performance.json` by `npm run docs`. `npm run bench -- --keep` measures, keeps',
    'the figures and writes this page. `bench/README.md` says what each line is.',
    '',
    `Measured on ${day} by \`${[...command, '--keep'].join(' ')}\`:`,
    '',
    ...about.flatMap((line) => wrap(`- ${line}`, '  ')),
    '',
    ...(quick
      ? [
          '**These are figures of a quick run**, of few and short rounds. They show the order of size, and no',
          'more.',
          '',
        ]
      : []),
    ...(only === null ? [] : [`Only the row \`${only}\` was measured.`, '']),
    'Compare the ratios: each was taken within one round, and they hold on a busy machine too. Times',
    'depend on the machine.',
    '',
    '## What is promised',
    '',
    '| what | measured | at most | |',
    '|---|---|---|---|',
    ...reaches.map(reachLine),
    '',
    ...groups.flatMap(groupLines),
  ].join('\n')
}

const columns = 100

/** Prose in lines of the width that pages have. */
function wrap(text: string, indent: string): string[] {
  const lines: string[] = []
  let line = ''
  for (const word of text.split(' ')) {
    if (line !== '' && line.length + 1 + word.length > columns) {
      lines.push(line)
      line = indent + word
    } else line += line === '' ? word : ` ${word}`
  }
  return [...lines, line]
}

function reachLine({ what, unit, value, atMost }: Reach): string {
  const verdict = value === undefined ? 'not measured' : value <= atMost ? 'reached' : '**missed**'
  return `| ${what} | ${showFigure(value)} ${unit} | ${atMost} ${unit} | ${verdict} |`
}

function groupLines(group: Group): string[] {
  const { title, unit, against, series } = group
  const heads = ['', `median ${unit}`, 'p95', ...against.map(({ as }) => `× ${as}`)]
  return [
    `## ${title.charAt(0).toUpperCase()}${title.slice(1)}`,
    '',
    toLine(heads),
    toLine(heads.map(() => '---')),
    ...series.map((each) => {
      const { name, values, failed, remark } = each
      const shown = remark === undefined ? name : `${name} (${remark})`
      if (failed !== undefined) return toLine([shown, 'not measured', '', ...against.map(() => '')])
      const ratios = against.map((base) => ratio(each, named(series, base.name)))
      return toLine([shown, ...[median(values), p95(values), ...ratios].map(showFigure)])
    }),
    '',
  ]
}

const toLine = (cells: readonly string[]): string =>
  `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`
