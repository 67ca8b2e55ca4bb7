/** What went wrong, told to everybody at once. */
export function Fault({ text }: { text: string | undefined }) {
  return text === undefined ? null : (
    <p class="fault" role="alert">
      {text}
    </p>
  )
}
