import { useSignal } from '@preact/signals'
import { Fault } from '../parts/fault.tsx'
import { notices, turn, type Notice } from './notices.ts'

const words: { readonly [notice in Notice]: string } = {
  browser: 'Notify me in this browser',
  sound: 'Play a sound',
}

/** Turns on how the person is told of what comes. */
export function NoticeSettings() {
  const fault = useSignal<string | undefined>(undefined)
  const change = async (notice: Notice, box: HTMLInputElement): Promise<void> => {
    fault.value = await turn(notice, box.checked)
    box.checked = notices[notice].value
  }
  return (
    <div class="bar">
      {(['browser', 'sound'] as const).map((notice) => (
        <label key={notice}>
          <input
            type="checkbox"
            checked={notices[notice].value}
            onChange={({ currentTarget }) => void change(notice, currentTarget)}
          />{' '}
          {words[notice]}
        </label>
      ))}
      <Fault text={fault.value} />
    </div>
  )
}
