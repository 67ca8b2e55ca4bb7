/** A part of a time: its name, and how much of something was in it. */
export interface Bar {
  readonly name: string
  readonly value: number
}

interface BarChartProps {
  readonly title: string
  /** The oldest first, all of one length. */
  readonly bars: readonly Bar[]
  readonly kind: 'all' | 'bad' | 'open'
  /** A value as a person reads it. */
  readonly show: (value: number) => string
  /** All of them together, as a person reads it. */
  readonly total: string
}

const height = 30

/** Bars over time. A pointer on one shows its number; a table beside the charts has all numbers. */
export function BarChart({ title, bars, kind, show, total }: BarChartProps) {
  const top = toRound(Math.max(...bars.map(({ value }) => value), 0))
  const width = 100 / Math.max(1, bars.length)
  const named = [bars[0], bars[Math.floor(bars.length / 2)], bars.at(-1)]
  return (
    <figure class="bars">
      <figcaption>
        {title} <strong>{total}</strong>
      </figcaption>
      <div class="plot">
        <div class="scale" aria-hidden="true">
          <span>{show(top)}</span>
          <span>0</span>
        </div>
        <svg
          viewBox={`0 0 100 ${height}`}
          preserveAspectRatio="none"
          role="img"
          aria-label={`${title} over time: ${describe(bars, show)}`}
        >
          {[0, height / 2].map((y) => (
            <line key={y} class="grid" x1={0} x2={100} y1={y} y2={y} />
          ))}
          {bars.map(({ name, value }, index) => (
            <g key={index}>
              <title>{`${name}: ${show(value)}`}</title>
              <rect class="hit" x={index * width} y={0} width={width} height={height} />
              <rect
                class={kind}
                x={index * width + width * 0.1}
                y={height - (value / top) * height}
                width={width * 0.8}
                height={(value / top) * height}
              />
            </g>
          ))}
        </svg>
        <div class="axis" aria-hidden="true">
          {named.map((bar, index) => (
            <span key={index}>{bar?.name}</span>
          ))}
        </div>
      </div>
    </figure>
  )
}

function describe(bars: readonly Bar[], show: (value: number) => string): string {
  const most = Math.max(...bars.map(({ value }) => value), 0)
  const found = bars.find(({ value }) => value === most)
  return found === undefined || most === 0 ? 'none' : `most ${show(most)}, in ${found.name}`
}

/** The next one of 1, 2, 5, 10, 20 and so on, or of 0.1, 0.2, 0.5. */
function toRound(value: number): number {
  if (value <= 0) return 1
  const unit = 10 ** Math.floor(Math.log10(value))
  const step = [1, 2, 5].find((each) => each * unit >= value) ?? 10
  return step * unit
}
