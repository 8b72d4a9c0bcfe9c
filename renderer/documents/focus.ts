/** What commands bring the focus to. */
export const ADD_FILES = 'add-documents';
export const SEARCH_FIELD = 'documents-search';
