// The questions: a title and a message that a model may have made.

const CLOSERS = "ls '\"]) --> --!> ]]> ?> </style> </script> </details> </textarea> </title> </svg> </pre> </think> <|end_of_thought|> ◁/think▷ ``` ~~~ $$ \\] \\) }} %% ::: ' \" and rm -rf thesis now";
const log = Array.from({ length: 1300 }, (_, at) => `w${at}`).join(" ").slice(0, 7880);

export const messages = Object.fromEntries(
  Object.entries({
    "closers": CLOSERS,
    "lines": "ls 'a\n]\n$$\n```\n-->\n</details>\n:::\n\\]\nrm -rf thesis now",
    "plain": "rm -rf thesis now",
    "parentheses": "(echo hi > notes; cat a ! b)",
    "brackets": "[echo hi > notes; cat a ! b]",
    "other brackets": "〈think〉 《rm》 「thesis」 ⟨a⟩ ❬b❭ ﹛c﹜ «d» ‹e› „f“",
    "thought": "◁think▷rm -rf ~◁/think▷ now",
    "thoughts": "<think>rm</think> <|begin_of_thought|>-rf<|end_of_thought|> thesis now",
    "citation": "ls 【1†source】 rm 【rm†thesis】 now",
    "citation marks": "ls \ue200rm\ue201 \\ue200 -rf \\ue201 thesis \ue203now\ue204",
    "right to left": "ls \u202e thesis fr- mr \u202c now",
    "isolate": "ls \u2067 abc rm -rf thesis now",
    "marks": `ls e${"\u0301".repeat(400)} rm -rf thesis now`,
    "mixed marks": `ls e${"\u0301\u0302\u0327\u20dd".repeat(100)} rm -rf thesis now`,
    "long word": `ls ${"a".repeat(150)}/..;rm\${IFS}-rf\${IFS}thesis${"b".repeat(60)} now`,
    "glue": `ls${"\u00a0x".repeat(120)}\u00a0rm\u00a0-rf\u00a0thesis${"\u00a0x".repeat(40)} now`,
    "tags": "ls \u{e0072}\u{e006d} now",
    "fillers": `ls${"\u3164".repeat(900)} rm -rf thesis now`,
    "blanks": `ls${"\u2800\u200b\ufeff\u00ad".repeat(50)} rm -rf thesis now`,
    "html": "ls <p hidden>rm -rf thesis</p> <details>x</details> now",
    "entities": "ls &lt;p hidden&gt;rm -rf thesis&lt;/p&gt; &#60;!-- &nbsp; &zwj; now",
    "templates": "ls {{user}} rm {{char}} {% x %} ${HOME} <%= y %> thesis now",
    "comment": "ls %%rm -rf thesis%% /* x */ <!-- y --> now",
    "directives": ":::artifact{a} scp host:rm x:thesis C:del ::leaf[x]{y} now",
    "formulas": "echo $rm $thesis $$x$$ \\(a\\) \\[b\\] \\ce{H} now",
    "emphasis": "ls *rm* _thesis_ __a__ ~~b~~ `c` ||d|| ==e== ^f^ ~g~ ++h++ now",
    "links": "ls [rm](x) ![thesis](y) [^1] [a]: b https://a.b/?x=rm www.thesis.org a@b.cc //rm.sh now",
    "blocks": "1. rm\n# thesis\n- a\n===\n> b\n    c\n+ d\n2) e\n---\n: f now",
    "code": "if (a < b && c[0] != 'x') { printf(\"%d\\n\", *p++); } // rm -rf /;\n\tfor i in `ls`; do rm $i; done",
    "typography": "ls -- rm --- x ... (c) +- ???? ,, \"a\" 'b' -> <- 1/2 thesis now",
    "control": "ls \u0002klzzwxh:0000\u0003 rm thesis \u0000 \u001b[8m now",
    "short codes": "ls :skull: rm :rm: (c) -- ... :-) @user #1 now",
    "separators": "ls\u2028rm -rf\u2029thesis\u0085x\u000bnow",
    "Chinese": "删除“全部”文件【重要】（共３个）：《论文》、数据。不可撤销！",
    "Japanese": "「論文」フォルダを削除します。よろしいですか？　元に戻せません…ー",
    "Arabic": "احذف جميع الملفات، «الأطروحة»؟ لا رجعة فيه rm -rf thesis الآن",
    "Thai and Hindi": "ลบไฟล์ทั้งหมดหรือไม่ है कि सभी फ़ाइलें हटाएँ rm -rf thesis now",
    "symbols": "∀x∈A: x≤y → ½ € 😀 👩‍👩‍👧 ☠ ✂ ◀rm▶ ■ █ now",
    "long": `${log} now`,
  }).map(([name, message]) => [name, ["Delete all files?", message]]),
);
messages["hostile title"] = ["<b hidden>`Read* [a file](x)? -->\n</details> $$", "rm -rf thesis now"];
messages["bidi title"] = ["Read \u202eeteled\u202c ◁think▷?", "rm -rf thesis now"];
