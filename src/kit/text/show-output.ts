import { stripVTControlCharacters } from 'node:util'
import { showControls } from './show-controls.ts'

/** What a program printed, as a model reads it: without the colours and moves of a terminal, and nothing in it hidden. */
export function showOutput(text: string): string {
  return showControls(
    text.includes('\u001b') || text.includes('\u009b') ? stripVTControlCharacters(text) : text,
  )
}
