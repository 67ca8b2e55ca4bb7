import { useSignal } from '@preact/signals'
import type { VersionDetail, VersionRow } from '../api.ts'
import { Fault } from '../parts/fault.tsx'
import { Table } from '../parts/table.tsx'
import { When } from '../parts/text.tsx'
import { Preview } from '../code/preview.tsx'
import { useAsked } from '../parts/use-asked.ts'

interface PolicyVersionsProps {
  /** Shown anew if it changes. */
  readonly saved: number
  readonly isBusy: boolean
  /** Called with what a version said, for it to be saved anew. Absent for who may not. */
  readonly onBack: ((text: string, version: number) => void) | undefined
}

/** What the policy file said before. */
export function PolicyVersions({ saved, isBusy, onBack }: PolicyVersionsProps) {
  const shown = useSignal<number | undefined>(undefined)
  const { answer, fault } = useAsked<{ readonly versions: readonly VersionRow[] }>(
    `/api/policy/versions?saved=${saved}`,
  )
  return (
    <>
      <h2>Versions</h2>
      <Fault text={fault} />
      {answer?.versions.length === 0 && <p class="empty">There is no policy file yet.</p>}
      {answer !== undefined && answer.versions.length > 0 && (
        <Table
          label="Versions of the policy file"
          columns={[['Version', 'number'], 'When', 'Who', 'Lines', 'Text']}
          rows={answer.versions.map(({ version, at, by, reason, added, removed }) => ({
            key: String(version),
            cells: [
              version,
              <When at={at} />,
              <>
                {by ?? 'found in the file'} {reason !== undefined && <small>{reason}</small>}
              </>,
              `+${added} −${removed}`,
              <button
                type="button"
                aria-expanded={shown.value === version}
                aria-label={`Show version ${version}`}
                onClick={() => (shown.value = shown.value === version ? undefined : version)}
              >
                {shown.value === version ? 'Hide' : 'Show'}
              </button>,
            ],
          }))}
        />
      )}
      {shown.value !== undefined && (
        <Version key={shown.value} version={shown.value} {...{ isBusy, onBack }} />
      )}
    </>
  )
}

function Version({
  version,
  isBusy,
  onBack,
}: { version: number } & Pick<PolicyVersionsProps, 'isBusy' | 'onBack'>) {
  const { answer, fault } = useAsked<VersionDetail>(`/api/policy/versions/${version}`)
  return (
    <>
      <Fault text={fault} />
      {answer !== undefined && <Preview title={`What version ${version} changed`} body={answer.diff} />}
      {answer !== undefined && onBack !== undefined && (
        <p>
          <button type="button" disabled={isBusy} onClick={() => onBack(answer.text, version)}>
            Back to version {version}
          </button>
        </p>
      )}
    </>
  )
}
