/** What grows line by line, relative to the folder of a run. */
export type RunLog =
  | 'logs/tools.jsonl'
  | 'logs/errors.jsonl'
  | 'events.jsonl'
  | 'artifacts.jsonl'
  | 'transcript.jsonl'
