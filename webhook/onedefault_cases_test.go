package webhook

import (
	"fmt"
	"maps"
	"strings"
)

// defaultCases are the table of docs/defaults.md as admission sees it, each in both scopes.
func defaultCases() map[string]defaultCase {
	all := map[string]defaultCase{}
	for _, cases := range []map[string]defaultCase{onCases(), offCases(), typeCases(), classCases(), looseCases()} {
		maps.Copy(all, cases)
	}
	return all
}

// onCases: a plan is annotated.
func onCases() map[string]defaultCase {
	const annotate = "plan db-large default"
	return map[string]defaultCase{
		"First":           {reason: "Nothing stands in its way.", catalog: "mysql/db: small large", write: annotate, may: "mysql", asked: "mysql"},
		"FirstOfNew":      {reason: "A new plan may be the first.", catalog: "mysql/db: small", write: "new mysql/db: large*", may: "mysql", asked: "mysql"},
		"FirstEmptyType":  {reason: "A type that records nothing is like none.", catalog: "mysql/db: small large", edits: edits(emptyType("mysql")), write: annotate, may: "mysql", asked: "mysql"},
		"OtherValue":      {reason: `Only "true" counts.`, catalog: "mysql/db: small*^ large", write: "plan db-large default=TRUE"},
		"SuggestedBeside": {reason: "A suggestion is no default.", catalog: "mysql/db: small? large", write: annotate, may: "mysql", asked: "mysql"},
		"OtherTypes":      {reason: "Another type's default is none of this one.", catalog: "mysql/db: small large;redis/cache: a*^", write: annotate, may: "mysql", asked: "mysql"},
		"NoRight":         {reason: "The right to update the type is the one door.", catalog: "mysql/db: small large", write: annotate, asked: "mysql", want: "DefaultRight"},
		"RightToAnother":  {reason: "It is a right to one type.", catalog: "mysql/db: small large", write: annotate, may: "redis", asked: "mysql", want: "DefaultRight"},

		"SecondAnnotated":     {reason: "One is stored, and not recorded yet.", catalog: "mysql/db: small* large", write: annotate, may: "mysql", asked: "mysql", want: "AnnotatedDefault"},
		"SecondAnnotatedKept": {reason: "Though the type is there.", catalog: "mysql/db: small* large", edits: edits(emptyType("mysql")), write: annotate, may: "mysql", asked: "mysql", want: "AnnotatedDefault"},
		"SecondRecorded":      {reason: "The record stands.", catalog: "mysql/db: small*^ large", write: annotate, may: "mysql", asked: "mysql", want: "RecordedDefault"},
		"SecondNoRight":       {reason: "Both faults are told.", catalog: "mysql/db: small*^ large", write: annotate, asked: "mysql", want: "RecordedDefault", causes: 2},
		"SecondOfNew":         {reason: "A new plan is no exception.", catalog: "mysql/db: small*^", write: "new mysql/db: large*", may: "mysql", asked: "mysql", want: "RecordedDefault"},
		"SecondOfGenerated":   {reason: "Nor is one without a name.", catalog: "mysql/db: small*^ large", write: "plan db-large nameless default", may: "mysql", asked: "mysql", want: "RecordedDefault"},
		"SecondOfOwnType":     {reason: "Nor one whose type is its own.", catalog: "mysql/db: small*^;many: large<mysql>", write: "plan many-large default", may: "mysql", asked: "mysql", want: "RecordedDefault"},
		"SecondBesideOwnType": {reason: "Nor is the holder's own type one.", catalog: "many: small<mysql>*;mysql/db: large", write: annotate, may: "mysql", asked: "mysql", want: "AnnotatedDefault"},
		"SecondInSwitch":      {reason: "Recorded, and not annotated yet: a switch is under way.", catalog: "mysql/db: small^ other* large", write: annotate, may: "mysql", asked: "mysql", want: "RecordedDefault"},
		"TakenOff":            {reason: "Record and annotation had agreed, and the annotation is gone: the keeper is about to clear the record.", catalog: "mysql/db: small^ large", edits: edits(agreed("mysql")), write: annotate, may: "mysql", asked: "mysql"},
		"TakenOffAndOther":    {reason: "That another did the same first is another matter.", catalog: "mysql/db: small^ other* large", edits: edits(agreed("mysql")), write: annotate, may: "mysql", asked: "mysql", want: "AnnotatedDefault"},
		"AgreedStill":         {reason: "They do agree.", catalog: "mysql/db: small*^ large", edits: edits(agreed("mysql")), write: annotate, may: "mysql", asked: "mysql", want: "RecordedDefault"},
		"SwitchFinished":      {reason: "The plan is the recorded one.", catalog: "mysql/db: small* large^", write: annotate, may: "mysql", asked: "mysql"},
		"SwitchFinishedAgain": {reason: "That takes the right, too.", catalog: "mysql/db: small* large^", write: annotate, asked: "mysql", want: "DefaultRight"},
		"LegacyThird":         {reason: "Two are annotated since before there was a record.", catalog: "mysql/db: small* medium* large", write: annotate, may: "mysql", asked: "mysql", want: "AnnotatedDefaults"},

		"RecordOfAbsent":     {reason: "A record of no plan holds no one up.", catalog: "mysql/db: small large;record mysql lost", write: annotate, may: "mysql", asked: "mysql"},
		"RecordOfDeleting":   {reason: "Nor does that of a plan that is being deleted.", catalog: "mysql/db: small*^! large", write: annotate, may: "mysql", asked: "mysql"},
		"RecordOfRemoved":    {reason: "Nor of one that its broker has no more.", catalog: "mysql/db: small*^ large", edits: edits(removed("db-small")), write: annotate, may: "mysql", asked: "mysql"},
		"RecordOfOtherType":  {reason: "Nor of one of another type.", catalog: "mysql/db: large;redis/cache: a*;record mysql cache-a", write: annotate, may: "mysql", asked: "mysql"},
		"RecordOfClassless":  {reason: "Nor of one whose class is gone.", catalog: "mysql/db: large;mysql/old: a*^", edits: edits(classless("old")), write: annotate, may: "mysql", asked: "mysql"},
		"RecordOfGoneClass":  {reason: "Or is going.", catalog: "mysql/db: large;mysql/old!: a*^", write: annotate, may: "mysql", asked: "mysql"},
		"RecordGoneAnother":  {reason: "Then annotations count.", catalog: "mysql/db: small* large;record mysql lost", write: annotate, may: "mysql", asked: "mysql", want: "AnnotatedDefault"},
		"AnnotatedGone":      {reason: "But those of live plans only.", catalog: "mysql/db: small*! large", write: annotate, may: "mysql", asked: "mysql"},
		"RecordedTypesOwn":   {reason: "The record is that of the plan's type, not its class's.", catalog: "mysql/db: small*^ large<redis>", write: annotate, may: "redis", asked: "redis"},
		"RecreatedRecorded":  {reason: "A plan that takes the name of the recorded one takes the right as any.", catalog: "mysql/db: small;record mysql db-large", write: "new mysql/db: large*", asked: "mysql", want: "DefaultRight"},
		"RecreatedUnmarked":  {reason: "Without the annotation the keeper clears the record.", catalog: "mysql/db: small;record mysql db-large", write: "new mysql/db: large"},
		"RecreatedOfOwnType": {reason: "Whichever way it has the type.", catalog: "mysql/db: small;record mysql db-large", write: "new mysql/db: large<mysql>"},
		"NewOfOwnType":       {reason: "A type of its own counts before that of the class.", catalog: "mysql/db: small*^", write: "new mysql/db: large<redis>*", may: "redis", asked: "redis"},
		"TerminatingMayTurn": {reason: "What is being deleted may be edited.", catalog: "mysql/db: small*^ large", write: "plan db-large going default"},
	}
}

// offCases: an annotation is taken off.
func offCases() map[string]defaultCase {
	const plain = "plan db-small plain"
	return map[string]defaultCase{
		"Off":              {reason: "Who may set it may take it off.", catalog: "mysql/db: small*^ large", write: plain, may: "mysql", asked: "mysql"},
		"OffToFalse":       {reason: "However it is taken off.", catalog: "mysql/db: small*^ large", write: "plan db-small default=false", asked: "mysql", want: "DefaultRight"},
		"OffNoRight":       {reason: "It is the same door.", catalog: "mysql/db: small*^ large", write: plain, asked: "mysql", want: "DefaultRight"},
		"OffUnrecorded":    {reason: "So it is before the keeper came by.", catalog: "mysql/db: small* large", write: plain, asked: "mysql", want: "DefaultRight"},
		"OffLegacy":        {reason: "And where two are annotated.", catalog: "mysql/db: small* large*", write: plain, asked: "mysql", want: "DefaultRight"},
		"OffLegacySettles": {reason: "Which is how that is settled.", catalog: "mysql/db: small* large*", write: plain, may: "mysql", asked: "mysql"},
		"OffAfterSwitch":   {reason: "The default is another by now.", catalog: "mysql/db: small* large^", write: plain},
		"OffRecordGone":    {reason: "The record is not believed: the annotation counts.", catalog: "mysql/db: small*;record mysql lost", write: plain, asked: "mysql", want: "DefaultRight"},
		"OffRemoved":       {reason: "A default that may return is one.", catalog: "mysql/db: small*^", edits: edits(removed("db-small")), write: plain, asked: "mysql", want: "DefaultRight"},
		"OffTerminating":   {reason: "What is being deleted may be edited.", catalog: "mysql/db: small*^", write: "plan db-small going plain"},
	}
}

// typeCases: a plan's own type changes.
func typeCases() map[string]defaultCase {
	const catalog = "many: small<mysql>*^ large<mysql>;redis/cache: a"
	return map[string]defaultCase{
		"TypeOfOther":         {reason: "A plan that is no default may change its type.", catalog: catalog, write: "plan many-large type=redis"},
		"TypeAway":            {reason: "A default leaves one type and enters another: two rights.", catalog: catalog, write: "plan many-small type=redis", may: "mysql redis", asked: "mysql redis"},
		"TypeAwayNoRight":     {reason: "Each of them is needed.", catalog: catalog, write: "plan many-small type=redis", asked: "mysql redis", want: "DefaultRight", causes: 2},
		"TypeAwayHalfRight":   {reason: "One is not enough.", catalog: catalog, write: "plan many-small type=redis", may: "redis", asked: "mysql redis", want: "DefaultRight"},
		"TypeToHeld":          {reason: "The other type has a default.", catalog: catalog + "*^", write: "plan many-small type=redis", may: "mysql redis", asked: "mysql redis", want: "RecordedDefault"},
		"TypeAwayAndOff":      {reason: "Without its annotation it enters nothing.", catalog: catalog + "*^", write: "plan many-small type=redis plain", may: "mysql", asked: "mysql"},
		"TypeAndOn":           {reason: "An annotation counts for the type of the same write.", catalog: catalog + "*^", write: "plan many-large type=redis default", may: "redis", asked: "redis", want: "RecordedDefault"},
		"TypeAwayInSwitch":    {reason: "The recorded one is the default before it is annotated.", catalog: "many: small<mysql>* large<mysql>^", write: "plan many-large type=redis", asked: "mysql", want: "DefaultRight"},
		"TypeAwayAfterSwitch": {reason: "And the annotated one is not any more.", catalog: "many: small<mysql>* large<mysql>^", write: "plan many-small type=redis", may: "redis", asked: "redis"},
		"TypeOff":             {reason: "Back to its class, which has no type.", catalog: catalog, write: "plan many-small type=", asked: "mysql", want: "DefaultRight"},
		"TypeToInherited":     {reason: "The same type by its class is no change.", catalog: "mysql/db: small<mysql>*^ large", write: "plan db-small type="},
		"TypeToInheritedLate": {reason: "Before it is recorded, too.", catalog: "mysql/db: small<mysql>* large", write: "plan db-small type="},
		"TypeToInheritedSoon": {reason: "And before it is annotated.", catalog: "mysql/db: small<mysql>^ large", write: "plan db-small type="},
		"TypeFromInherited":   {reason: "Nor is it the other way.", catalog: "mysql/db: small*^ large", write: "plan db-small type=mysql"},
		"TypeBack":            {reason: "It is recorded there still, and no other took its place.", catalog: "many: small<redis>*;record mysql many-small", write: "plan many-small type=mysql", may: "redis", asked: "redis"},
		"TypeBackUnannotated": {reason: "Coming back is no door past another.", catalog: "many: small<redis> large<mysql>*;record mysql many-small", write: "plan many-small type=mysql", want: "AnnotatedDefault"},
		"TypeTerminating":     {reason: "What is being deleted may be edited.", catalog: catalog, write: "plan many-small going type=redis"},
	}
}

// classCases: a class's type changes, and with it that of its plans.
func classCases() map[string]defaultCase {
	const catalog = "mysql/db: small*^ large own<mysql>;redis/cache: a"
	var many []string
	for i := range 20 {
		many = append(many, fmt.Sprintf(";mysql/c%d: p", i))
	}
	return map[string]defaultCase{
		"ClassWithoutDefault": {reason: "No plan of it is a default.", catalog: "mysql/db: small large;redis/cache: a*^", write: "class db type=redis"},
		"ClassAway":           {reason: "Its default goes with it.", catalog: catalog, write: "class db type=redis", may: "mysql redis", asked: "mysql redis"},
		"ClassAwayNoRight":    {reason: "Which takes both rights.", catalog: catalog, write: "class db type=redis", asked: "mysql redis", want: "DefaultRight", causes: 2},
		"ClassToHeld":         {reason: "And finds another.", catalog: catalog + "*^", write: "class db type=redis", may: "mysql redis", asked: "mysql redis", want: "RecordedDefault"},
		"ClassOff":            {reason: "Taking the type away takes the default away.", catalog: catalog, write: "class db type=", asked: "mysql", want: "DefaultRight"},
		"ClassOffByRight":     {reason: "Who may, may.", catalog: catalog, write: "class db type=", may: "mysql", asked: "mysql"},
		"ClassOwnTypes":       {reason: "Plans with types of their own do not follow.", catalog: "mysql/db: small<mysql>*^ large", write: "class db type=redis"},
		"ClassTyped":          {reason: "A class gets its type after its plan was annotated.", catalog: "db: small* large", write: "class db type=mysql", may: "mysql", asked: "mysql"},
		"ClassTypedNoRight":   {reason: "That is a default of the type.", catalog: "db: small* large", write: "class db type=mysql", asked: "mysql", want: "DefaultRight"},
		"ClassTypedHeld":      {reason: "Or would be.", catalog: "db: small* large;mysql/old: a*", write: "class db type=mysql", may: "mysql", asked: "mysql", want: "AnnotatedDefault"},
		"ClassTypedTwo":       {reason: "Two at once are one too many.", catalog: "db: small* large*", write: "class db type=mysql", may: "mysql", asked: "mysql", want: "AnnotatedDefault"},
		"ClassTypedThree":     {reason: "Three are two too many.", catalog: "db: small* medium* large*", write: "class db type=mysql", may: "mysql", asked: "mysql", want: "AnnotatedDefaults"},
		"ClassTypedTwoOfMany": {reason: "However many classes there are.", catalog: "db: small* large* own<mysql>" + strings.Join(many, ""), write: "class db type=mysql", may: "mysql", asked: "mysql", want: "AnnotatedDefault"},
		"ClassUntypedTwo":     {reason: "Of a class without a type, too, there is one default.", catalog: "mysql/db: small*^ large*", write: "class db type=", may: "mysql", asked: "mysql", want: "ClassDefault"},
		"ClassRecordedInOld":  {reason: "In a switch, the recorded plan is what leaves.", catalog: "mysql/db: small^ large", write: "class db type=redis", asked: "mysql", want: "DefaultRight"},
		"ClassComes":          {reason: "A class may come after its plans.", catalog: "db: small* large", edits: edits(classless("db")), write: "new mysql/db:", may: "mysql", asked: "mysql"},
		"ClassComesNoRight":   {reason: "That too is a door.", catalog: "db: small* large", edits: edits(classless("db")), write: "new mysql/db:", asked: "mysql", want: "DefaultRight"},
		"ClassComesHeld":      {reason: "Behind which someone may stand.", catalog: "db: small* large;mysql/old: a*^", edits: edits(classless("db")), write: "new mysql/db:", may: "mysql", asked: "mysql", want: "RecordedDefault"},
		"ClassComesBack":      {reason: "Its default is recorded: a broker may list the class again.", catalog: "mysql/db: small*^ large", edits: edits(classless("db")), write: "new mysql/db:"},
		"ClassComesBackLate":  {reason: "But not past another default.", catalog: "mysql/db: small*^ large;mysql/other: a*", edits: edits(classless("db")), write: "new mysql/db:", want: "AnnotatedDefault"},
		"ClassComesUntyped":   {reason: "Without a type it changes nothing.", catalog: "db: small* large", edits: edits(classless("db")), write: "new db:"},
		"ClassTerminating":    {reason: "What is being deleted may be edited.", catalog: catalog, write: "class db going type=redis"},
	}
}

// looseCases: plans without a type count within their class.
func looseCases() map[string]defaultCase {
	return map[string]defaultCase{
		"Loose":            {reason: "It asks for no right.", catalog: "db: small large", write: "plan db-large default"},
		"LooseSecond":      {reason: "A class has one default.", catalog: "db: small* large", write: "plan db-large default", want: "ClassDefault"},
		"LooseSecondOfNew": {reason: "However the second comes.", catalog: "db: small*", write: "new db: large*", want: "ClassDefault"},
		"LooseOff":         {reason: "Taking it off is free.", catalog: "db: small* large", write: "plan db-small plain"},
		"LooseElsewhere":   {reason: "Another class is another matter.", catalog: "db: small;db2: small*", write: "plan db-small default"},
		"LooseBesideTyped": {reason: "So is a plan with a type.", catalog: "db: small<mysql>* large", write: "plan db-large default"},
		"LooseBesideGone":  {reason: "One that is being deleted stands in no one's way.", catalog: "db: small*! large", write: "plan db-large default"},
		"LooseClassless":   {reason: "A chart may bring two plans before their class.", catalog: "db: small*", edits: edits(classless("db")), write: "new db: large*", want: "ClassDefault"},
		"LooseNewFirst":    {reason: "Or one.", catalog: "db: small", edits: edits(classless("db")), write: "new db: large*"},
		"LooseUnknown":     {reason: "A relist may be about to give it a type, and could not any more.", catalog: "db: small large", edits: edits(classless("db")), write: "plan db-large default", may: "mysql", want: "ClassAbsent"},
		"LooseKnown":       {reason: "One with a type needs no class.", catalog: "db: small large<mysql>", edits: edits(classless("db")), write: "plan db-large default", may: "mysql", asked: "mysql"},
		"LooseKept":        {reason: "What is annotated may be edited.", catalog: "db: small* large", edits: edits(classless("db")), write: "plan db-small label=gold"},
		"LooseClassGone":   {reason: "Of a class that is going nothing is chosen.", catalog: "db!: small* large", write: "plan db-large default"},
		"LooseFromType":    {reason: "A default that loses its type is one of its class.", catalog: "db: small* large<mysql>*^", write: "plan db-large type=", may: "mysql", asked: "mysql", want: "ClassDefault"},
	}
}

func edits(all ...func(*stock)) []func(*stock) { return all }
