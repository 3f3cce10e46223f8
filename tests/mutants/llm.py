"""Mutants of `llm`: pages, the scheduler, memory of steps, requests, files of models, tokenizers, templates."""

from __future__ import annotations

from .mutant import Mutant

LLM = [
    Mutant(
        "src/tileproof/llm/pages.py",
        "            heapq.heappush(self._free, page)",
        "            self._is_taken[page] = False",
        "tests/llm/test_scheduling.py::test_the_last_that_came_gives_its_pages_back_and_is_computed_again",
        "A page that is given back can be taken again.",
    ),
    Mutant(
        "src/tileproof/llm/schedule.py",
        "self._find_pages(sequence, sequence.length, pieces):",
        "self._find_pages(sequence, sequence.computed, pieces):",
        "tests/llm/test_scheduling.py::test_the_last_that_came_gives_its_pages_back_and_is_computed_again",
        "A sequence has a page for the token that is computed.",
    ),
    Mutant(
        "src/tileproof/llm/schedule.py",
        ("        self.pool.give_back(sequence.pages)\n        sequence.pages = []\n        sequence.computed = 0"),
        ("        self.pool.give_back(sequence.pages)\n        sequence.computed = 0"),
        "tests/llm/test_scheduling.py::test_the_last_that_came_gives_its_pages_back_and_is_computed_again",
        "A sequence that lost its pages uses them no more.",
    ),
    Mutant(
        "src/tileproof/llm/sequence.py",
        "return [*self.prompt[start:], *self.generated[: stop - size]]",
        "return [*self.prompt[start:], *self.generated[: stop - size - 1]]",
        "tests/llm/test_engine_edges.py::test_others_go_on_where_a_step_is_left_in_its_middle[cpu-0.0]",
        "Tokens across the end of the prompt are all there.",
    ),
    Mutant(
        "src/tileproof/llm/arena.py",
        "last[id(buffer)] = len(ops) if buffer.is_output else number",
        "last[id(buffer)] = number",
        "tests/llm/test_engine_edges.py::test_rows_of_padding_are_never_chosen[cpu-first of one]",
        "An output keeps its memory to the end of the step.",
    ),
    Mutant(
        "src/tileproof/llm/arena.py",
        "            place = max(place, end)",
        "            place = end",
        "tests/llm/test_steps.py::test_buffers_that_are_in_use_together_share_no_memory[20]",
        "A buffer is placed behind all that are in its way.",
    ),
    Mutant(
        "src/tileproof/llm/arena.py",
        "            if place + life.elements <= start:",
        "            if place <= start:",
        "tests/llm/test_steps.py::test_buffers_that_are_in_use_together_share_no_memory[19]",
        "A buffer fits into the gap that it is placed in.",
    ),
    Mutant(
        "src/tileproof/llm/requests.py",
        "        if any(not text for text in self.stop):",
        "        if any(text is None for text in self.stop):",
        "tests/llm/test_requests.py::test_a_setting_that_cannot_be_used_is_named[stop-values10]",
        "An empty stop string is refused.",
    ),
    Mutant(
        "src/tileproof/llm/streaming.py",
        'getincrementaldecoder("utf-8")("replace")',
        'getincrementaldecoder("utf-8")("ignore")',
        ("tests/llm/test_streaming.py::test_bytes_that_are_no_character_come_as_soon_as_nothing_can_complete_them"),
        "Bytes that make no character come out as U+FFFD.",
    ),
    Mutant(
        "src/tileproof/llm/generating.py",
        " or self.sequence.length >= self.room:",
        " or self.sequence.length > self.room:",
        "tests/llm/test_flight.py::test_a_context_is_filled_to_its_last_place[cpu]",
        "A text has no more tokens than there is room for.",
    ),
    Mutant(
        "src/tileproof/llm/safetensors_files.py",
        "    if place != size:",
        "    if place > size:",
        ("tests/llm/test_damaged_checkpoints.py::test_a_damaged_header_is_refused[<lambda>-2 bytes stand behind]"),
        "Nothing stands behind the last tensor.",
    ),
    Mutant(
        "src/tileproof/llm/gguf_header.py",
        "        return name, tuple(reversed(shape)),",
        "        return name, tuple(shape),",
        ("tests/llm/test_damaged_checkpoints.py::test_a_second_name_of_a_tensor_in_a_gguf_file_is_refused[name2]"),
        "Shapes of GGUF are turned: the outermost axis comes first.",
    ),
    Mutant(
        "src/tileproof/llm/text.py",
        "        if start and self._begins and self.bos is not None and found[:1] != [self.bos]:",
        "        if start and self._begins and self.bos is not None:",
        "tests/llm/test_text.py::test_a_folder_says_how_texts_begin_and_end",
        "A prompt that begins with bos gets no other.",
    ),
    Mutant(
        "src/tileproof/llm/text.py",
        "                self._tokenizer.encode_special_tokens = not special\n",
        "                self._tokenizer.encode_special_tokens = False\n",
        "tests/llm/test_text.py::test_a_message_that_is_brought_into_another_form_spells_no_special_token",
        "Special tokens that others spell in a text stay plain text.",
    ),
    Mutant(
        "src/tileproof/llm/text.py",
        "self._trusted(text) if part.is_trusted else self.encode(text, special=False, start=False)",
        "self._trusted(text)",
        "tests/llm/test_text.py::test_a_message_cannot_speak_for_another[assistant]",
        "What a message spells does not end its turn.",
    ),
    Mutant(
        "src/tileproof/llm/text.py",
        "is_text = 0 <= token < self.tokens and token not in self._special",
        "is_text = 0 <= token < self.tokens",
        "tests/llm/test_streaming.py::test_special_tokens_and_rows_beyond_the_vocabulary_have_no_text",
        "Special tokens have no text.",
    ),
    Mutant(
        "src/tileproof/llm/chat_prompts.py",
        "    for name in Counter(found) - Counter(own):",
        "    for name in Counter(own) - Counter(found):",
        "tests/llm/test_text.py::test_a_template_that_joins_halves_of_a_special_token_is_seen_through",
        "Halves of a special token that the template joins are refused.",
    ),
    Mutant(
        "src/tileproof/llm/chat_prompts.py",
        '    if continue_last and messages[-1].role != "assistant":',
        '    if continue_last and messages[-1].role == "system":',
        "tests/llm/test_text.py::test_a_chat_that_is_none_is_refused[messages3-True-not the assistant's]",
        "Only an answer of the assistant is continued.",
    ),
]
